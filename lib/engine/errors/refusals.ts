import { LockError } from './lock.error.js';

/** An option, or the place where a decorator stands, is wrong. Thrown at start-up wherever possible. */
export class LockOptionsError extends LockError {
  readonly code = 'LOCK_OPTIONS';
}

/** A key, a value put into one, or the text of a hand-over cannot name a lock. The message never repeats it. */
export class LockKeyError extends LockError {
  readonly code = 'LOCK_KEY';
}

/** A process that holds a lock or waits for it. */
export interface LockParty {
  readonly host: string;
  readonly pid: number;
  /** The `label` of its call. While a process passes the lock on among its own callers, that of the first of them. */
  readonly label?: string;
}

/** Others hold the lock, and the caller's `wait` is over. Nothing is held and nothing is queued. */
export class LockNotAcquiredError extends LockError {
  readonly code = 'LOCK_NOT_ACQUIRED';
  /**
   * Who held the lock when `wait` was over, as Redis said within 100 ms. Undefined for a call that asked once, where several
   * hold it, and where another library does.
   */
  readonly holder: LockParty | undefined = undefined;

  constructor(
    key: string,
    /** How long the caller waited in all, in whole ms; 0 if it did not want to wait. */
    readonly waited: number,
    /** How long the caller wanted to wait at most, in ms. */
    wait = waited,
    /** How many permits the semaphore has; undefined for a lock. */
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

/**
 * The limit that refused a call: its own option `maxWaiting`, or one of the module's `limits`. The first two are about one
 * lock, the others about a process.
 */
export type LimitName = 'maxWaiting' | 'waitersPerKey' | 'waitersPerProcess' | 'leases';

/** The call's `maxWaiting`, or a cap of `limits`, was reached: refused at once, so that the process and Redis stay healthy. */
export class LockLimitError extends LockError {
  readonly code = 'LOCK_LIMIT';
  /**
   * How long the first waiter of this process has waited for the lock, in ms: a queue that moves takes about as long.
   * Undefined if none waits here.
   */
  readonly retryAfter: number | undefined;

  constructor(
    key: string,
    readonly limit: LimitName,
    /** The value of the limit. */
    readonly cap: number,
    { by, retryAfter }: { readonly by?: string; readonly retryAfter?: number | undefined } = {},
  ) {
    const reached = by === undefined ? 'is reached' : `is reached by ${by}`;
    super(`Lock "${key}" was refused: the limit "${limit}" of ${cap} ${reached}.`, { key });
    this.retryAfter = retryAfter;
  }
}

/** Inside a shared lease the lock was asked for exclusively: two callers that do so would wait for each other. */
export class LockUpgradeError extends LockError {
  readonly code = 'LOCK_UPGRADE';

  constructor(key: string) {
    super(
      `Lock "${key}" is held in shared mode around this call, which wants it exclusively. ` +
        'Take it exclusively from the start, or give the shared lease back first.',
      { key },
    );
  }
}

/** A lock that was wanted inside another one, and the code that wanted it. */
export interface NestedLocks {
  readonly held: string;
  readonly wanted: string;
  /** The stack of the call. */
  readonly at: string;
}

/** Two locks are nested now in one order, now in the other: two callers that do so at once wait for each other. */
export class LockOrderError extends LockError {
  readonly code = 'LOCK_ORDER';

  /** `before`: the chain of nested locks, met earlier, by which `held` was wanted inside `wanted`. */
  constructor(
    readonly held: string,
    wanted: string,
    before: readonly NestedLocks[],
  ) {
    const other = before.map(
      (nested) => `"${nested.wanted}" was wanted inside "${nested.held}":\n${nested.at}`,
    );
    super(
      `Lock "${wanted}" is wanted inside lock "${held}", but elsewhere the other way round: two callers who do so ` +
        'at once wait for each other. Take both at the outside, as one array of keys, or always in one order. ' +
        `Before this call ${other.join('\nand ')}\nThis call:`,
      { key: wanted },
    );
  }
}

/** The application is shutting down: no lock is given any more. */
export class LockShutdownError extends LockError {
  readonly code = 'LOCK_SHUTDOWN';

  constructor(key?: string) {
    super(
      key === undefined
        ? 'The lock service is shut down.'
        : `Lock "${key}" was not acquired: the application is shutting down.`,
      { key },
    );
  }
}

const LIKELY_OWNER: Record<string, string> = {
  hash: 'a Redisson lock? It can be shared: dialect "redisson"',
  zset: 'a lock of symfony/lock? It can be shared: dialect "symfony"; or a semaphore of another library',
  string: 'a plain lock, as most libraries write? It can be shared: dialect "plain"',
  list: 'a list of the application?',
  set: 'a set of the application?',
  stream: 'a stream of the application?',
};

/** A value of another kind lives at the lock's key; it was left as it is. */
export class ForeignLockError extends LockError {
  readonly code = 'FOREIGN_LOCK';

  constructor(
    key: string,
    /** The Redis type of the value; `unknown` if it lies under one of the lock's other keys. */
    readonly type: string,
  ) {
    const owner = LIKELY_OWNER[type];
    super(
      `Redis holds a ${type} at the key of lock "${key}"${owner ? ` (${owner})` : ''}: not a lock of this kind. ` +
        'Choose another key or keyPrefix.',
      { key },
    );
  }
}
