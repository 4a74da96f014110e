import { LockError } from './lock.error.js';

/** An option, or the place where a decorator stands, is wrong. Thrown at start-up wherever possible. */
export class LockOptionsError extends LockError {
  readonly code = 'LOCK_OPTIONS';
}
