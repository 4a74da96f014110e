import type { Duration } from '../options/index.js';

/**
 * A lock, or several, that one holds for a time. It ends by `release`, or it is lost: then `held` is false
 * at once, `assertHeld` throws and `signal` aborts. It guarantees that nobody else was granted the lock
 * before it ended by its own clock; what is written later must be guarded by `fencingToken`.
 */
export interface Lease extends AsyncDisposable {
  /** The locks' keys, without prefix, sorted. */
  readonly keys: readonly string[];

  /** The lock's key, without prefix; of several locks the keys with a comma between. */
  readonly key: string;

  /**
   * A number above that of every earlier grant of this lock, and the same while it is held: store it
   * with what you write, and refuse to write what comes with a smaller one.
   *
   * Redis keeps the last token for a day after the last lease. Without it, after a loss of its data, tokens start at the
   * server's clock, in µs: they are larger than all before unless that clock shows less than at the last grant, or up to
   * 0.1 s more. A lease in shared mode has the token of the last writer; 0 where Redis knows of none.
   * @throws LockOptionsError if the lock was taken with `fencing: false`, or if there are several.
   */
  readonly fencingToken: number;

  /**
   * The fencing token of one of the locks.
   * @throws LockOptionsError if it was taken with `fencing: false`, or is none of this lease's.
   */
  fencingTokenOf(key: string): number;

  /** When the lease ends unless it is renewed, in ms since the epoch by this machine's clock. */
  readonly expiresAt: number;

  /**
   * Aborts with a `LeaseLostError` when the lease is lost. A timer fires it: after a stall or a sleep of the machine,
   * `held` knows first. A key that somebody deleted is noticed at the next renewal, after up to a third of the ttl; of a
   * lease that is not renewed, at its end.
   */
  readonly signal: AbortSignal;

  /**
   * True while the lease lasts. Compares two clocks at the moment of use; never waits for a timer. After the machine slept,
   * or somebody set its clock, it is false until Redis has confirmed the lease: the first look makes the process ask.
   */
  readonly held: boolean;

  /** @throws LeaseLostError unless the lease is held at this moment. */
  assertHeld(): void;

  /** Runs `work` inside this lease: the same lock can be taken again in it without waiting. */
  run<T>(work: () => T | PromiseLike<T>): Promise<T>;

  /**
   * Asks for `ttl` (default: the lease's own) from now on. Never shortens a lease, never brings one back.
   * @throws LeaseLostError if it is over; LockStoreError if Redis does not say.
   */
  extend(ttl?: Duration): Promise<void>;

  /**
   * From now on others may share the lock with this lease, and nobody can have held it alone in between.
   * Nothing happens to a lease that is shared already; there is no way back but to acquire anew.
   * @throws LeaseLostError if it is over, or if Redis does not say whether it is: it counts as lost then;
   * LockOptionsError where one of the locks is held more than once by re-entry, or in a format without shared mode.
   */
  downgrade(): Promise<void>;

  /**
   * Gives the lease to another process: whoever calls `restore` with the text, the first of them, holds it under the
   * same fencing token. Here it is over before the text exists (`transferred`), and given back by nobody: without a
   * `restore` the lock comes free after its ttl from now, or after what `extend` asked for before. The text is as
   * good as the lock: keep it out of logs.
   * @throws LeaseLostError if the lease is over, or if Redis does not say whether it was handed over: it counts as lost then,
   * and nobody can restore it. LockStoreError if Redis refused or could not be asked: nothing happened, the lease is held
   * and renewed as before, so hand it over again or release it. LockOptionsError for a lease that is shared, of permits, on several locks, held more than once by re-entry, or on a quorum.
   */
  handOver(): Promise<string>;

  /**
   * Gives the lock back, to the next waiter if there is one. Idempotent. False if it was not ours any
   * more. Rejects never: when Redis does not answer, the lock is left as soon as it does, at the
   * latest by its ttl.
   */
  release(): Promise<boolean>;

  /** What may be logged: no secret. */
  toJSON(): LeaseJson;
}

/** A lease as it may be logged. */
export interface LeaseJson {
  readonly key: string;
  readonly held: boolean;
  readonly expiresAt: number;
  readonly fencingToken: number | undefined;
}

/** What every lease of this library bears. */
export const LEASE = Symbol('nest-redis-lock:lease');

/** For `instanceof`: true for a lease of this library, not for what else implements the interface. */
export const Lease: { [Symbol.hasInstance](value: unknown): value is Lease } = class {
  static [Symbol.hasInstance](value: unknown): value is Lease {
    return typeof value === 'object' && value !== null && LEASE in value;
  }
};
