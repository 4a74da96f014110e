import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { LockNotAcquiredError } from '../errors/index.js';
import { lockName } from '../keys/index.js';
import type { Lease } from '../leases/lease.js';
import type { Leases } from '../leases/leases.js';
import {
  type AcquireOptions,
  type CallSettings,
  callSettings,
  type ModuleSettings,
} from '../options/index.js';
import { inspection, type LockInspection } from './lock-inspection.js';

const logger = new Logger('RedisLock');

/** How many waiters `inspect` names. */
const NAMED_WAITERS = 100;

/** What `withLock` takes beside {@link AcquireOptions}. */
export interface WithLockOptions extends AcquireOptions {
  /** What happens when the body succeeds after its lease was lost. @default 'throw' */
  readonly onLost?: 'throw' | 'ignore' | undefined;
}

type Work<T> = (lease: Lease) => T | PromiseLike<T>;

/** Distributed locks: the injectable service. One lock is one key; who holds it is one lease. */
@Injectable()
export class LockService implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #leases: Leases;
  readonly #settings: ModuleSettings;

  /** @internal */
  constructor(leases: Leases, settings: ModuleSettings) {
    this.#leases = leases;
    this.#settings = settings;
  }

  /** What decorators and the interceptor stand on. @internal */
  static internals(service: LockService): {
    leases: Leases;
    defaults: CallSettings;
    maxKeyBytes: number;
  } {
    const { call, limits } = service.#settings;
    return { leases: service.#leases, defaults: call, maxKeyBytes: limits.keyBytes };
  }

  /**
   * Waits for the lock and holds it until `release`.
   * @throws LockNotAcquiredError when `wait` is over; LockStoreError when Redis fails; ForeignLockError,
   * LockKeyError, LockLimitError, LockOptionsError, LockShutdownError; `signal.reason` when aborted.
   */
  acquire(key: string, options?: AcquireOptions): Promise<Lease> {
    return this.#run(key, options, (name, call) =>
      this.#leases.acquire(name, call, options?.signal),
    );
  }

  /** Asks once: null if another holds the lock. Errors as in {@link acquire}. */
  tryAcquire(key: string, options?: Omit<AcquireOptions, 'wait'>): Promise<Lease | null> {
    return this.#run(key, options, async (name, call) => {
      try {
        return await this.#leases.acquire(name, { ...call, wait: 0 }, options?.signal);
      } catch (error) {
        if (error instanceof LockNotAcquiredError) return null;
        throw error;
      }
    });
  }

  /**
   * Runs `work` under the lock and gives it back whatever happens. Inside, the same key can be locked
   * again. The body's own result or error wins, save that a success after the lease was lost rejects
   * with `LeaseLostError`. Errors of waiting as in {@link acquire}.
   */
  withLock<T>(key: string, work: Work<T>): Promise<T>;
  withLock<T>(key: string, options: WithLockOptions, work: Work<T>): Promise<T>;
  withLock<T>(key: string, ...rest: [Work<T>] | [WithLockOptions, Work<T>]): Promise<T> {
    const [options, work] = rest.length === 1 ? [undefined, rest[0]] : rest;
    return this.#run(key, options, (name, call) =>
      this.#leases.withLock(name, call, work, options),
    );
  }

  /** The lease the running code is inside of: on `key`, or the innermost. */
  current(key?: string): Lease | undefined {
    return this.#leases.current(key);
  }

  /** Who holds the lock, since when, and who waits. */
  inspect(key: string): Promise<LockInspection> {
    return this.#run(key, undefined, async (name) =>
      inspection(name, await this.#leases.inspect(name, NAMED_WAITERS)),
    );
  }

  /**
   * Takes the lock from whoever holds it and gives it to the next waiter. The old holder is told; until
   * it has heard, two may work at once, which only the fencing token tells apart. False if it was free.
   * @throws ForeignLockError if the key holds no lock.
   */
  forceRelease(key: string): Promise<boolean> {
    return this.#run(key, undefined, (name) => this.#leases.force(name));
  }

  /** Called by Nest: connects. */
  async onModuleInit(): Promise<void> {
    if (this.#settings.lazyConnect) return;
    await this.#leases.open();
    const { found, warnings } = this.#leases.describeStore();
    const { keyPrefix, call } = this.#settings;
    logger.log(
      `${found}; keys "${keyPrefix}…", ttl ${call.ttl} ms, wait ${call.wait} ms, fencing ${call.fencing ? 'on' : 'off'}`,
    );
    for (const warning of warnings) logger.warn(warning);
  }

  /** Called by Nest: nobody waits any more; requests still under way keep what they hold. */
  beforeApplicationShutdown(): void {
    this.#leases.stopWaiting();
  }

  /** Called by Nest: gives back what is held and disconnects. */
  async onApplicationShutdown(): Promise<void> {
    await this.#leases.close();
  }

  /** Never throws but rejects; options that are not given cost nothing. */
  #run<T>(
    key: string,
    options: WithLockOptions | undefined,
    step: (name: string, call: CallSettings) => Promise<T>,
  ): Promise<T> {
    const { limits, call } = this.#settings;
    try {
      const settings = options ? callSettings(options, call, ['signal', 'mode', 'onLost']) : call;
      return step(lockName(key, limits.keyBytes), settings);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}
