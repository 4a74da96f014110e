import { LockError } from './lock.error.js';

/** A key, or a value put into one, cannot name a lock. The message never repeats the value. */
export class LockKeyError extends LockError {
  readonly code = 'LOCK_KEY';
}
