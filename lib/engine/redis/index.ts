export { slotTagOf } from './cluster/slot-map.js';
export { deadline } from './deadline.js';
export { connectToEach, type FoundServer, type FoundServers } from './connect-to-each.js';
export {
  baseOf,
  BESIDE,
  fenceKey,
  globOf,
  type KeyType,
  lockKeyList,
  LockKeys,
} from './key-names.js';
export { MergedScript } from './merged-script.js';
export { LuaScript, named, type ScriptRun } from './lua-script.js';
export { isServer, prefixOf } from './open-connection.js';
export { notConnected, type ServerHealth } from './server-health.js';
export { ForeignChannels } from './inbox.js';
export { type LockServer, type ServerListener } from './lock-server.js';
export { lockServer } from './open-server.js';
export { type Step, type StepNode } from './redis-node.js';
export { CommonOperands, KeyList, type Keys, type Operand, type Operands } from './resp.js';
export { type OutageListener } from './outage-watch.js';
export { type RedisConnection } from './redis-connection.js';
export { CachedScript } from './cached-script.js';
export { commandsOf, missingRights, rightsFor } from './rights.js';
export { RedisServer } from './redis-server.js';
export { ServerClock } from './server-clock.js';
export { checkServer, type Description, productOf, risks, serverField } from './server-check.js';
export { scanned } from './scan.js';
export { notSent, saysOf, storeFailure } from './store-failure.js';
