import { LockOptionsError } from '../../engine/errors/index.js';
import type { Lease } from '../../engine/client/leases/lease.js';
import type { LockClient } from '../../engine/client/lock-client.js';
import { withLease, type Work } from './run-under-lease.js';
import {
  type AcquireOptions,
  type CallSettings,
  callSettings,
  checkAbilities,
  MOST_PERMITS,
  type NameOptions,
  refuseOthers,
  wholeNumber,
} from '../../engine/options/index.js';

/**
 * The number of permits, the same in all replicas. During a rollout each replica enforces its own limit: it admits nobody while
 * that many permits are held.
 */
export interface SemaphoreOptions extends NameOptions {
  /** How many callers may hold a permit at once, over all replicas. From 1 to 10,000. */
  readonly permits: number;
}

/** The options of one call for permits. */
export interface PermitAcquireOptions extends Omit<AcquireOptions, 'mode' | 'reentrant'> {
  /**
   * How many permits the lease takes, all or none.
   * @range 1 to `permits`
   * @default 1
   */
  readonly count?: number | undefined;
}

/** {@link PermitAcquireOptions} for `withPermit`. */
export interface WithPermitOptions extends PermitAcquireOptions {
  /**
   * `'ignore'` keeps the result of work that succeeded after its lease was lost; `'throw'` rejects with `LeaseLostError`.
   * @default 'throw'
   */
  readonly onLost?: 'throw' | 'ignore' | undefined;
}

/**
 * A semaphore over all replicas: at most `permits` are held at once. A lease renews its permits while it lasts; after a crash
 * they come free when its ttl is over. A semaphore is not re-entrant: a holder that asks again takes further permits. Callers
 * are served in the order of arrival, and a caller that wants several permits blocks those behind it until they are free.
 *
 * A name is used either with permits or without. The other use throws `ForeignLockError`.
 */
export class Semaphore {
  readonly #client: LockClient;
  readonly #defaults: CallSettings;
  readonly permits: number;

  /** @internal */
  constructor(
    client: LockClient,
    defaults: CallSettings,
    readonly key: string,
    { permits, name, label, ...others }: SemaphoreOptions,
  ) {
    refuseOthers(others);
    this.#client = client;
    this.#defaults = callSettings({ name, label }, defaults);
    this.permits = permits;
    wholeNumber('permits', permits, MOST_PERMITS);
  }

  /**
   * Waits for permits, at most for `wait`, and holds them until `release`. A cancelled call holds no permit.
   * @throws LockNotAcquiredError when `wait` is over; otherwise as `LockService.acquire`.
   */
  acquire(options: PermitAcquireOptions = {}): Promise<Lease> {
    return this.#acquire(options);
  }

  /** Asks Redis once. Resolves to null if too few permits are free, or if other callers wait. Errors as in {@link acquire}. */
  async tryAcquire(options: Omit<PermitAcquireOptions, 'wait'> = {}): Promise<Lease | null> {
    return this.#client.tryAcquire(this.key, this.#call(options), options.signal);
  }

  /** Runs `work` under permits and releases them when it ends, also by an error. Errors as in `LockService.withLock`. */
  withPermit<T>(work: Work<T>): Promise<T>;
  withPermit<T>(options: WithPermitOptions, work: Work<T>): Promise<T>;
  withPermit<T>(...given: [Work<T>] | [WithPermitOptions, Work<T>]): Promise<T> {
    const [options, work] = given.length === 1 ? [undefined, given[0]] : given;
    return withLease(this.#acquire(options, ['onLost']), work, options?.onLost);
  }

  async #acquire(options: PermitAcquireOptions = {}, more?: readonly string[]): Promise<Lease> {
    return this.#client.acquire(this.key, this.#call(options, more), options.signal);
  }

  /** Returns the settings of one call; `more` names further options that the call accepts. */
  #call(
    { count = 1, ...options }: PermitAcquireOptions,
    more: readonly string[] = [],
  ): CallSettings {
    const { permits } = this;
    wholeNumber('count', count, permits);
    const { mode, reentrant } = options as AcquireOptions;
    if (mode !== undefined || reentrant !== undefined) {
      throw new LockOptionsError('A semaphore has neither "mode" nor "reentrant".');
    }
    const settings = callSettings(options, this.#defaults, ['signal', 'name', 'label', ...more]);
    checkAbilities(settings, { permits });
    return { ...settings, reentrant: false, share: { permits, count } };
  }
}
