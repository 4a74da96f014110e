export { LockError, isLockError } from './lock.error.js';
export { LockNotAcquiredError } from './lock-not-acquired.error.js';
export { LeaseLostError, type LossReason } from './lease-lost.error.js';
export { LockStoreError, type CommandOutcome } from './lock-store.error.js';
export { ForeignLockError } from './foreign-lock.error.js';
export { LockKeyError } from './lock-key.error.js';
export { LockLimitError } from './lock-limit.error.js';
export { LockOptionsError } from './lock-options.error.js';
export { LockShutdownError } from './lock-shutdown.error.js';
