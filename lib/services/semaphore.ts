import { LockOptionsError } from '../errors/index.js';
import type { Lease } from '../client/lease.js';
import type { Leases } from '../client/leases.js';
import { withLease, type Work } from '../client/run-under-lease.js';
import {
  type AcquireOptions,
  type CallSettings,
  callSettings,
  MOST_PERMITS,
  wholeNumber,
} from '../options/index.js';
import { refuseDialect } from './refuse-dialect.js';

/** How many may come in. The replicas should agree on it; while they do not, each keeps to its own number. */
export interface SemaphoreOptions {
  /** From 1 to 10,000. */
  readonly permits: number;
}

/** How permits are asked for. */
export interface PermitAcquireOptions extends Omit<AcquireOptions, 'mode' | 'reentrant'> {
  /** How many one lease holds, all of them or none; 1 if nothing is said. */
  readonly count?: number | undefined;
}

/** {@link PermitAcquireOptions} of work under permits. */
export interface WithPermitOptions extends PermitAcquireOptions {
  /** What happens when the body succeeds after its lease was lost; `'throw'` if nothing is said. */
  readonly onLost?: 'throw' | 'ignore' | undefined;
}

/**
 * At most so many at a time, over all replicas. Each permit is a lease of its own: renewed while it is held, gone
 * with its ttl after a crash, without a loan from the others. Not re-entrant: who holds one and asks again takes
 * one more. Waiters come in in the order of their coming; who wants several permits holds up those behind him
 * until they are free.
 *
 * A name is used either with permits or without: where the other is in use, a call is a `ForeignLockError`.
 */
export class Semaphore {
  readonly #leases: Leases;
  readonly #defaults: CallSettings;

  /** @internal */
  constructor(
    leases: Leases,
    defaults: CallSettings,
    readonly key: string,
    readonly permits: number,
  ) {
    this.#leases = leases;
    this.#defaults = defaults;
    refuseDialect(defaults, 'semaphore()');
    wholeNumber('permits', permits, MOST_PERMITS);
  }

  /**
   * Waits for permits and holds them until `release`.
   * @throws LockNotAcquiredError when `wait` is over; otherwise as `LockService.acquire`.
   */
  async acquire(options: PermitAcquireOptions = {}): Promise<Lease> {
    return this.#leases.acquire(this.key, this.#call(options), options.signal);
  }

  /** Asks once: null if too few are free, or others wait for them. Errors as in {@link acquire}. */
  async tryAcquire(options: Omit<PermitAcquireOptions, 'wait'> = {}): Promise<Lease | null> {
    const lease = await this.#leases.tryAcquire(this.key, this.#call(options), options.signal);
    return lease ?? null;
  }

  /** Runs `work` under a permit, or several, and gives them back whatever happens; as `LockService.withLock`. */
  withPermit<T>(work: Work<T>): Promise<T>;
  withPermit<T>(options: WithPermitOptions, work: Work<T>): Promise<T>;
  withPermit<T>(...given: [Work<T>] | [WithPermitOptions, Work<T>]): Promise<T> {
    const [{ onLost, ...options }, work] = given.length === 1 ? [{}, given[0]] : given;
    return withLease(this.acquire(options), work, onLost);
  }

  #call({ count = 1, ...options }: PermitAcquireOptions): CallSettings {
    const { permits } = this;
    wholeNumber('count', count, permits);
    if ('mode' in options || 'reentrant' in options) {
      throw new LockOptionsError('A semaphore has neither "mode" nor "reentrant".');
    }
    const settings = callSettings(options, this.#defaults);
    return { ...settings, reentrant: false, share: { permits, count } };
  }
}
