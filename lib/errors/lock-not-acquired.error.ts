import { LockError } from './lock.error.js';

/** Others hold the lock, and the caller's `wait` is over. Nothing is held and nothing is queued. */
export class LockNotAcquiredError extends LockError {
  readonly code = 'LOCK_NOT_ACQUIRED';

  constructor(
    key: string,
    /** How long the caller waited, in ms. */
    readonly waited: number,
  ) {
    super(
      waited > 0
        ? `Lock "${key}" was not acquired within ${waited} ms: others hold it. Wait longer (option "wait"), or treat it as busy.`
        : `Lock "${key}" is held by another. Set "wait" to queue for it.`,
      { key },
    );
  }
}
