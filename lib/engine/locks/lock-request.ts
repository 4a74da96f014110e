import { type LockFormat, NATIVE, type Share } from '../options/index.js';

/** Identifies one acquisition. The same fields acquire, renew and release it. */
export interface LockRequest {
  readonly key: string;
  /** The id of the acquisition: unguessable, and never used again after a release or a leave. */
  readonly holder: string;
  /** How long the lease lasts unless it is renewed, in ms. */
  readonly ttl: number;
  /** The number of fencing tokens that a grant reserves; 0 for none. */
  readonly tokenBlock: number;
  /** How the lock is shared; undefined for an exclusive lease. */
  readonly share?: Share | undefined;
  /** The condition that the caller awaits before it queues. */
  readonly condition?: AwaitedCondition | undefined;
  /** How the lock is written in Redis. */
  readonly format: LockFormat;
  /** Whether to queue if the lock is not free; otherwise the answer is `busy`. */
  readonly queue?: boolean;
  /** The number of waiters at which the answer is `full`; undefined for the module's limit. */
  readonly maxWaiting?: number | undefined;
  /** The arrival that an earlier answer named: the entry keeps its turn if the server forgot it. */
  readonly enqueuedAt?: string | undefined;
  /** A lease of the same caller, which the step releases before it asks; only for exclusive leases. */
  readonly former?: LockRequest | undefined;
  /** For an extension: the ms left by the last answer, if nobody had asked for as many. A lease with such an end is shortened. */
  readonly overlong?: number | undefined;
  /** Returns false once the caller has given up: no further command is sent. */
  readonly wanted?: (() => boolean) | undefined;
}

/** A condition of a lock, as a waiting caller names it. */
export interface AwaitedCondition {
  readonly name: string;
  /** True if the caller awaits the condition no longer, and only the lock. */
  readonly over: boolean;
  /** Whether the caller was signalled, or may have been; undefined if unknown. */
  readonly signalled?: boolean | undefined;
}

type Lock = Pick<LockRequest, 'key' | 'format'>;

/**
 * The identity of a lock in this process. For a native lock it is the name; in a dialect it is the Redis key, however that is
 * split into prefix and name, and the format. (No name has a control character.)
 */
export function lockId({ key, format }: Lock): string {
  if (format === NATIVE) return key;
  return `${format.prefix}${key}${format.suffix}\n${format.family}`;
}

/** True if a holder of the one lock also holds the other. Locks that are written differently may not exclude the same callers. */
export function isSameLock(one: Lock, other: Lock): boolean {
  return lockId(one) === lockId(other) && writing(one.format) === writing(other.format);
}

/** How a lock of a format is written, where the dialect has a choice. */
function writing({ timestampCompat, unit, lasting, kind }: LockFormat): string {
  return [timestampCompat, unit, lasting, kind].join();
}
