export { LockError, isLockError, type LockErrorDetails } from './lock.error.js';
export * from './refusals.js';
export * from './store-errors.js';
export * from './lost-leases.js';
