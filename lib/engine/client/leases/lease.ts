import type { LeaseLostError } from '../../errors/index.js';
import { asyncDispose, type Duration, POLICY_DEFAULTS } from '../../options/index.js';

/**
 * A lock, or several locks, held for a time. A lease ends by `release`, or it is lost: then `held` is false, `assertHeld`
 * throws and `signal` aborts. While Redis keeps its data, nobody else is granted the lock before the lease has ended by this
 * process's clock. Guard writes that may come later by `fencingToken`. With `await using`, a lost lease ends the block
 * without an error: call `assertHeld` before you write.
 */
export interface Lease extends AsyncDisposable {
  /** The keys of the locks, sorted, without the prefix. */
  readonly keys: readonly string[];

  /** The key of the lock without the prefix; of several locks, their keys joined by commas. */
  readonly key: string;

  /**
   * A number above that of every earlier grant of this lock. It does not change while the lease lasts. Store it with what
   * you write, and refuse writes that come with a smaller number.
   *
   * Redis keeps the last token of all locks for 24 hours after the last grant. After a loss of its data, tokens start at
   * the server's clock in µs. They are then above all earlier ones if that clock is at least 0.1 s past the last grant.
   * Leases in shared mode that are held together have one token: no earlier writer has a greater one, and each later writer
   * has.
   * @example
   * ```ts
   * const sql = 'UPDATE account SET balance = $1, token = $2 WHERE id = $3 AND token <= $2';
   * await db.query(sql, [balance, lease.fencingToken, id]);
   * ```
   * @throws LockOptionsError if the lock was acquired with `fencing: false`, or if the lease holds several locks.
   */
  readonly fencingToken: number;

  /**
   * The fencing token of one of the locks.
   * @throws LockOptionsError if it was acquired with `fencing: false`, or if the lease does not hold `key`.
   */
  fencingTokenOf(key: string): number;

  /** How long the call that acquired the lease waited for it, in ms, with a fraction. 0 for a restored lease. */
  readonly waited: number;

  /** The time at which the lease ends unless it is renewed, in ms since the epoch by this machine's clock. */
  readonly expiresAt: number;

  /**
   * Aborts with a `LeaseLostError` when the lease is lost. A timer triggers it, so after a stall or a sleep of the machine
   * `held` is false first. If the key was deleted in Redis, the next renewal finds that, within a third of the ttl. With
   * `renew: false`, the loss is seen when the lease ends.
   */
  readonly signal: AbortSignal;

  /**
   * True while the lease lasts. It compares two clocks at the moment of use and depends on no timer. After the machine slept
   * or its clock was set, it is false until Redis confirms the lease; the first use makes the process ask.
   */
  readonly held: boolean;

  /** @throws LeaseLostError unless the lease is held at this moment. */
  assertHeld(): void;

  /**
   * Runs `work` inside this lease: code in it can acquire the same lock again without waiting. Settles as the work does, and
   * does not release the lease.
   * @throws LeaseLostError if the lease is over at the call.
   */
  run<T>(work: () => T | PromiseLike<T>): Promise<T>;

  /**
   * Extends the lease to `ttl` from now, but not beyond `maxHold`. It never shortens a lease and never revives one.
   * @param ttl from 50 ms to 24 hours; default: the ttl of the lease.
   * @throws LeaseLostError if the lease is over; LockStoreError if Redis does not answer.
   */
  extend(ttl?: Duration): Promise<void>;

  /**
   * Turns an exclusive lease into a shared one in one step: no writer gets in between, and readers may join from now on. A
   * shared lease stays as it is. To hold the lock exclusively again, release and acquire it.
   * @throws LeaseLostError if the lease is over, or if Redis does not answer: the lease counts as lost then.
   * LockOptionsError if a lock is held more than once by re-entry, or cannot be shared.
   */
  downgrade(): Promise<void>;

  /**
   * Gives the lease to another process. The first process that calls `restore` with the returned text holds it, with the
   * same fencing token. In this process, the lease is over before the text exists (reason `transferred`). Without a
   * `restore`, the lock comes free a ttl from now, or later if `extend` asked for more. The time on the way counts neither
   * for `minHold` nor for `maxHold`. A lease on several locks goes into one text, and is restored as a whole. Keep the text
   * secret: whoever has it has the lock. `discard` gives the lock back where nobody wants it any more.
   * @example
   * ```ts
   * await queue.add('export', { lock: await lease.handOver() }); // in the worker: locks.restore(job.data.lock)
   * ```
   * @throws LeaseLostError if the lease is over, or if Redis does not answer, also for one of several locks: it counts as
   * lost then, and nobody can restore it. LockStoreError if Redis refused or could not be asked: the lease is held and
   * renewed as before. LockOptionsError for a lease that is shared, of permits, held more than once by re-entry, or on a
   * quorum.
   */
  handOver(): Promise<string>;

  /**
   * Releases the lock and hands it to the next waiting caller. Resolves to false if the lease was already lost. A second call
   * does nothing. It never rejects: when Redis does not answer, the lock is released as soon as it does, at the latest by
   * its ttl.
   */
  release(): Promise<boolean>;

  /** The fields that a log may have. They contain no secret. */
  toJSON(): LeaseJson;
}

/** A lease as it may be logged. */
export interface LeaseJson {
  readonly key: string;
  readonly held: boolean;
  readonly expiresAt: number;
  readonly fencingToken: number | undefined;
}

/** The mark of every lease of this library. */
export const LEASE = Symbol('nest-redis-lock:lease');

/** For `instanceof`: true for leases of this library, false for other implementations of the interface. */
export const Lease: { [Symbol.hasInstance](value: unknown): value is Lease } = class {
  static [Symbol.hasInstance](value: unknown): value is Lease {
    return typeof value === 'object' && value !== null && LEASE in value;
  }
};

/** A stretch of code that runs under a lease. */
export interface OpenSection {
  run<T>(work: () => T): T;
  /** Work that outlives the section is no longer inside it. */
  close(): void;
}

/** The common part of leases on one lock and on several, with the methods that only the library calls. */
export abstract class BaseLease implements Lease {
  get [LEASE](): true {
    return true;
  }

  abstract get keys(): readonly string[];

  get key(): string {
    return this.keys.join(', ');
  }

  abstract get fencingToken(): number;

  abstract fencingTokenOf(key: string): number;

  /** The fencing token, if the lease is on one lock and has one. */
  abstract get token(): number | undefined;

  abstract readonly waited: number;

  abstract get expiresAt(): number;

  abstract get signal(): AbortSignal;

  abstract get held(): boolean;

  /** True once the lease was released by hand, or given back for a condition that its holder awaits no more. */
  abstract get returned(): boolean;

  /** The error that says why the lease is over. */
  abstract lossError(): LeaseLostError;

  assertHeld(): void {
    if (!this.held) throw this.lossError();
  }

  /** True once the lease was handed over to another process. */
  abstract get handedOver(): boolean;

  /**
   * Releases the lease after a body that succeeded, unless the body did so itself.
   * @throws LeaseLostError as {@link refuseLoss}.
   */
  async finish(onLost?: 'throw' | 'ignore'): Promise<void> {
    this.refuseLoss(await this.release(), onLost);
  }

  /**
   * Judges the result of `release` after a body that succeeded.
   * @throws LeaseLostError if the lease was over before, unless that is to be ignored or the body handed it over.
   */
  refuseLoss(released: boolean, onLost: 'throw' | 'ignore' = POLICY_DEFAULTS.onLost): void {
    if (!released && onLost !== 'ignore' && !this.handedOver) throw this.lossError();
  }

  async run<T>(work: () => T | PromiseLike<T>): Promise<T> {
    this.assertHeld();
    const section = this.openSection();
    try {
      return await section.run(work);
    } finally {
      section.close();
    }
  }

  abstract extend(ttl?: Duration): Promise<void>;

  abstract downgrade(): Promise<void>;

  abstract handOver(): Promise<string>;

  /** `unused`: no code ran under the lease, so no minimum hold counts. */
  abstract release(unused?: 'unused'): Promise<boolean>;

  async [asyncDispose](): Promise<void> {
    await this.release();
  }

  /** Opens a section that stays open until it is closed, for work that goes on after a function returned. */
  abstract openSection(lease?: BaseLease): OpenSection;

  toJSON(): LeaseJson {
    const { key, held, expiresAt, token } = this;
    return { key, held, expiresAt, fencingToken: token };
  }
}
