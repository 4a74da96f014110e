export { LockService, type WithLockOptions } from './services/lock.service.js';
export { type LockInspection, type LockParty } from './services/lock-inspection.js';
export { Lease } from './leases/lease.js';
export { lockKey, type LockKeyValue } from './keys/index.js';
export {
  type AcquireOptions,
  type Duration,
  type LockCallOptions,
  type LockLimits,
  type RedisLockOptions,
  type RedisSource,
} from './options/index.js';
export * from './errors/index.js';
