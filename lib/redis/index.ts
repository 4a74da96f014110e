export { type InboxListener } from './grant-channel.js';
export { type LockKeys, lockKeys, Remembered } from './key-names.js';
export { LuaScript } from './lua-script.js';
export { isServer, prefixOf } from './open-client.js';
export { type LockServer } from './lock-server.js';
export { lockServer } from './open-server.js';
export { type StepNode } from './redis-node.js';
export { KeyList, type Operand } from './resp.js';
export { RedisServer } from './redis-server.js';
