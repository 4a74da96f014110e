import { LockError } from './lock.error.js';

/** Others hold the lock, and the caller's `wait` is over. Nothing is held and nothing is queued. */
export class LockNotAcquiredError extends LockError {
  readonly code = 'LOCK_NOT_ACQUIRED';

  constructor(
    key: string,
    /** How long the caller waited in all, in whole ms; 0 if it did not want to wait. */
    readonly waited: number,
    /** How long the caller wanted to wait at most, in ms. */
    wait = waited,
    /** Of a semaphore: how many permits it has. Undefined for a lock. */
    readonly permits?: number,
    /** The locks that the caller's own code held meanwhile. */
    held: readonly string[] = [],
  ) {
    super(
      wait > 0
        ? `Lock "${key}" was not acquired within ${wait} ms${explain(key, held)}`
        : `${taken(key, permits)} Set "wait" to queue for it.`,
      { key },
    );
  }
}

function taken(key: string, permits: number | undefined): string {
  return permits === undefined
    ? `Lock "${key}" is held by another.`
    : `All ${permits} permits of "${key}" are taken.`;
}

function explain(key: string, held: readonly string[]): string {
  if (held.length === 0) {
    return ': others hold it. Wait longer (option "wait"), or treat it as busy.';
  }
  const by = ` by code that holds ${held.map((each) => `"${each}"`).join(', ')}`;
  return held.includes(key)
    ? `${by}: it may have waited for itself, or for a sibling under the same lease. Acquire the lock once, outside.`
    : `${by}: others hold it. If they wait for that in turn, nobody goes on: option "lockOrder" finds such orders.`;
}
