import { LockOptionsError } from '../errors/index.js';
import { type Duration, POLICY_DEFAULTS } from '../options/index.js';
import type { Holding } from './holding.js';
import type { Section } from './section.js';

/** What a lease asks of the process that gave it out. */
export interface LeaseHost {
  extend(holding: Holding, ttl: Duration | undefined): Promise<void>;
  downgrade(holding: Holding): Promise<void>;
  release(holding: Holding): Promise<boolean>;
  verify(holding: Holding): void;
  section(holding: Holding, lease: Lease): Section;
}

/**
 * A lock that one holds for a time. It ends by `release`, or it is lost: then `held` is false at
 * once, `assertHeld` throws and `signal` aborts. It guarantees that nobody else was granted the lock
 * before it ended by its own clock; what is written later must be guarded by `fencingToken`.
 */
export class Lease implements AsyncDisposable {
  readonly #host: LeaseHost;
  readonly #holding: Holding;
  readonly #leaveTurn: (() => void) | undefined;
  #released: Promise<boolean> | undefined;

  /** @internal */
  constructor(host: LeaseHost, holding: Holding, leaveTurn?: () => void) {
    this.#host = host;
    this.#holding = holding;
    this.#leaveTurn = leaveTurn;
    holding.holds += 1;
  }

  /** The lock's key, without prefix. */
  get key(): string {
    return this.#holding.claim.key;
  }

  /**
   * A number above that of every earlier grant of this lock, and the same while it is held: store it
   * with what you write, and refuse to write what comes with a smaller one.
   * @throws LockOptionsError if the lock was taken with `fencing: false`.
   */
  get fencingToken(): number {
    const token = this.#holding.fencingToken;
    if (token === undefined) {
      throw new LockOptionsError(
        `Lock "${this.key}" was taken with "fencing: false": it has no fencing token.`,
      );
    }
    return token;
  }

  /** When the lease ends unless it is renewed, in ms since the epoch by this machine's clock. */
  get expiresAt(): number {
    return Math.floor(this.#holding.wallDeadline);
  }

  /** Aborts with a `LeaseLostError` when the lease is lost. A timer fires it: after a stall, `held` knows first. */
  get signal(): AbortSignal {
    return this.#holding.signal;
  }

  /** True while the lease lasts. Compares clocks at the moment of use; never waits for a timer. */
  get held(): boolean {
    if (this.#released !== undefined) return false;
    if (this.#holding.inDoubt) this.#host.verify(this.#holding);
    return this.#holding.held;
  }

  /** @throws LeaseLostError unless the lease is held at this moment. */
  assertHeld(): void {
    if (!this.held) throw this.#holding.lossError();
  }

  /**
   * Gives back the lease of a body that succeeded.
   * @throws LeaseLostError if the lease was over before, unless that is to be ignored.
   * @internal
   */
  async finish(onLost: 'throw' | 'ignore' = POLICY_DEFAULTS.onLost): Promise<void> {
    const held = this.held;
    const released = await this.release();
    if (!(held && released) && onLost !== 'ignore') throw this.#holding.lossError();
  }

  /** Runs `work` inside this lease: the same lock can be taken again in it without waiting. */
  async run<T>(work: () => T | PromiseLike<T>): Promise<T> {
    this.assertHeld();
    const section = this.openSection();
    try {
      return await section.run(work);
    } finally {
      section.close();
    }
  }

  /**
   * Asks for `ttl` (default: the lease's own) from now on. Never shortens a lease, never brings one back.
   * @throws LeaseLostError if it is over; LockStoreError if Redis does not say.
   */
  async extend(ttl?: Duration): Promise<void> {
    this.assertHeld();
    await this.#host.extend(this.#holding, ttl);
  }

  /**
   * From now on others may share the lock with this lease, and nobody can have held it alone in between.
   * Nothing happens to a lease that is shared already; there is no way back but to acquire anew.
   * @throws LeaseLostError if it is over, or if Redis does not say whether it is: it counts as lost then.
   */
  async downgrade(): Promise<void> {
    this.assertHeld();
    await this.#host.downgrade(this.#holding);
  }

  /**
   * Gives the lock back, to the next waiter if there is one. Idempotent. False if it was not ours any
   * more. Rejects never: when Redis does not answer, the lock is left as soon as it does, at the
   * latest by its ttl.
   */
  release(): Promise<boolean> {
    this.#released ??= this.#release();
    return this.#released;
  }

  #release(): Promise<boolean> {
    this.#leaveTurn?.();
    this.#holding.holds -= 1;
    if (this.#holding.holds > 0) return Promise.resolve(this.#holding.held);
    return this.#host.release(this.#holding);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** A section that stays open until it is closed, for work that goes on after a function returned. @internal */
  openSection(): Section {
    return this.#host.section(this.#holding, this);
  }

  toJSON(): { key: string; held: boolean; expiresAt: number; fencingToken: number | undefined } {
    const { fencingToken } = this.#holding;
    return { key: this.key, held: this.held, expiresAt: this.expiresAt, fencingToken };
  }
}
