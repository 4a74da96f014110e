export { type InboxListener } from './grant-channel.js';
export { type LockKeys, lockKeys, Remembered } from './key-names.js';
export { LuaScript } from './lua-script.js';
export { prefixOf } from './open-client.js';
export { RedisServer } from './redis-server.js';
export { KeyList, type Operand } from './resp.js';
