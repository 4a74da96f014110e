export { type InboxListener } from './grant-channel.js';
export { type LockKeys, lockKeys } from './key-names.js';
export { LuaScript, type Operand } from './lua-script.js';
export { prefixOf } from './open-client.js';
export { RedisServer } from './redis-server.js';
