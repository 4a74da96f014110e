export { deadline } from './deadline.js';
export {
  globOf,
  type KeyType,
  type LockKeys,
  lockKeyList,
  lockKeys,
  Remembered,
} from './key-names.js';
export { LuaScript } from './lua-script.js';
export { isServer, prefixOf } from './open-connection.js';
export { type LockServer } from './lock-server.js';
export { lockServer } from './open-server.js';
export { type Step, type StepNode } from './redis-node.js';
export { KeyList, type Operand } from './resp.js';
export { type OutageListener } from './outage-watch.js';
export { type RedisConnection } from './redis-connection.js';
export { commandsOf, rightsFor } from './rights.js';
export { RedisServer } from './redis-server.js';
