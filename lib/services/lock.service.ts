import {
  Injectable,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { LockOptionsError } from '../errors/index.js';
import { lockName, lockNames } from '../keys/index.js';
import { readHandOver } from '../client/hand-over.js';
import type { Lease } from '../client/lease.js';
import type { Leases } from '../client/leases.js';
import { SingleLease } from '../client/single-lease.js';
import type { Stamp } from '../client/stamp.js';
import { withLease, type Work } from '../client/run-under-lease.js';
import {
  type AcquireOptions,
  type CallSettings,
  callSettings,
  type ModuleSettings,
} from '../options/index.js';
import { Condition } from './condition.js';
import { Election, ELECTION_CALL, ELECTION_PREFIX, type ElectionOptions } from './election.js';
import { type ListOptions, listLocks } from './list-locks.js';
import { inspectLock, type LockInspection } from './lock-inspection.js';
import { dialectOf, type LookOptions } from './look-options.js';
import { refuseDialect } from './refuse-dialect.js';
import { Semaphore, type SemaphoreOptions } from './semaphore.js';
import { logTaken } from './shutdown-log.js';
import { logStart } from './start-log.js';

/** What `withLock` takes beside {@link AcquireOptions}. */
export interface WithLockOptions extends AcquireOptions {
  /** What happens when the body succeeds after its lease was lost. @default 'throw' */
  readonly onLost?: 'throw' | 'ignore' | undefined;
}

/** Distributed locks: the injectable service. One lock is one key; who holds it is one lease. */
@Injectable()
export class LockService implements OnModuleInit, OnModuleDestroy, OnApplicationShutdown {
  readonly #leases: Leases;
  readonly #settings: ModuleSettings;

  /** @internal */
  constructor(leases: Leases, settings: ModuleSettings) {
    this.#leases = leases;
    this.#settings = settings;
  }

  /**
   * What decorators and the interceptor stand on.
   * @throws LockOptionsError for what a test put in the place of a service.
   * @internal
   */
  static internals(service: LockService): {
    leases: Leases;
    defaults: CallSettings;
    maxKeyBytes: number;
  } {
    if (!(#settings in service)) {
      throw new LockOptionsError(
        'Decorators cannot lock by this LockService, which is a stand-in. In tests use LockTestingModule.forRoot() or memoryLockService() from "nest-redis-lock/testing".',
      );
    }
    const { call, limits } = service.#settings;
    return { leases: service.#leases, defaults: call, maxKeyBytes: limits.keyBytes };
  }

  /**
   * Waits for the lock and holds it until `release`. Of several locks: all of them or none, in one round trip
   * when they are free, and without a deadlock in whatever order they are named; one lease holds them.
   * @throws LockNotAcquiredError when `wait` is over; LockStoreError when Redis fails; ForeignLockError,
   * LockKeyError, LockLimitError, LockOptionsError, LockShutdownError; LockUpgradeError inside a shared
   * lease on the same lock; `signal.reason` when aborted.
   */
  acquire(key: string | readonly string[], options?: AcquireOptions): Promise<Lease> {
    return this.#run(key, options, (names, call) =>
      this.#leases.acquire(names, call, options?.signal),
    );
  }

  /** Asks once: null if another holds the lock. Errors as in {@link acquire}. */
  tryAcquire(
    key: string | readonly string[],
    options?: Omit<AcquireOptions, 'wait'>,
  ): Promise<Lease | null> {
    return this.#run(key, options, async (names, call) => {
      return (await this.#leases.tryAcquire(names, call, options?.signal)) ?? null;
    });
  }

  /**
   * Runs `work` under the lock, or several, and gives it back whatever happens. Inside, the same key can be
   * locked again. The body's own result or error wins, save that a success after the lease was lost rejects
   * with `LeaseLostError`. Errors of waiting as in {@link acquire}.
   */
  withLock<T>(key: string | readonly string[], work: Work<T>): Promise<T>;
  withLock<T>(key: string | readonly string[], options: WithLockOptions, work: Work<T>): Promise<T>;
  withLock<T>(
    key: string | readonly string[],
    ...rest: [Work<T>] | [WithLockOptions, Work<T>]
  ): Promise<T> {
    const [options, work] = rest.length === 1 ? [undefined, rest[0]] : rest;
    return withLease(this.acquire(key, options), work, options?.onLost);
  }

  /**
   * At most `permits` at a time, over all replicas.
   * @throws LockKeyError, LockOptionsError
   */
  semaphore(name: string, { permits }: SemaphoreOptions): Semaphore {
    return new Semaphore(this.#leases, this.#settings.call, this.#name(name), permits);
  }

  /**
   * A condition variable of the lock that `lease` holds.
   * @throws LockKeyError; LockOptionsError if the lease is on several locks.
   */
  condition(lease: Lease, name: string): Condition {
    if (lease instanceof SingleLease) return new Condition(this.#leases.conditions, lease, name);
    throw new LockOptionsError(
      lease.keys.length === 1
        ? 'A condition needs a lease that this library granted.'
        : 'A condition belongs to one lock: this lease holds several.',
    );
  }

  /**
   * Begins an optimistic read: take the stamp, read without a lock, and use what was read only if the stamp
   * validates. Writers never hear of it. What it cannot see stands at `Stamp.validate`: above all holders with
   * `fencing: false`.
   * @throws LockOptionsError where the module has `fencing: false` or a dialect; LockStoreError when Redis fails;
   * ForeignLockError on the name of a semaphore; LockKeyError.
   */
  async optimistic(key: string): Promise<Stamp> {
    refuseDialect(this.#settings.call, 'optimistic()');
    return this.#leases.optimistic(this.#name(key));
  }

  /**
   * Goes on with a lease that another process handed over by `lease.handOver()`: it alone holds the lock then, with
   * the same fencing token, and renews it as the other did. Only the first `restore` of a text does. Where an answer
   * is lost it asks once more: it takes up to two `commandTimeout`s.
   * @throws LeaseLostError if it was restored before, taken away, or not restored within its ttl; LockStoreError
   * when Redis fails: try again; LockOptionsError for another text, or a quorum; LockLimitError; LockShutdownError:
   * here nothing is held then, and another process may restore it unless it was under way when `shutdownGrace` ended.
   */
  async restore(text: string): Promise<Lease> {
    const handOver = readHandOver(text);
    this.#name(handOver.request.key);
    return this.#leases.restore(handOver);
  }

  /** The lease the running code is inside of: on `key`, or the innermost. */
  current(key?: string): Lease | undefined {
    return this.#leases.current(key);
  }

  /** Who holds the lock, since when, and who waits. A lock that was taken with a `dialect` of the call is seen with the same `dialect`. */
  async inspect(key: string, options: LookOptions = {}): Promise<LockInspection> {
    const dialect = dialectOf(options, this.#settings);
    return inspectLock(this.#leases.administration, this.#name(key), dialect);
  }

  /**
   * The locks that are not free and whose keys match, `*` for anything, each as {@link inspect} shows it. Looks through
   * all keys, a thousand at a time: for operators. Locks taken or given back meanwhile are found or not; above
   * `limit`, which ones is up to Redis. @throws LockKeyError, LockOptionsError; LockStoreError when Redis fails.
   */
  list(pattern = '*', options: ListOptions = {}): Promise<LockInspection[]> {
    return listLocks(this.#leases.administration, pattern, options, this.#settings);
  }

  /**
   * Takes the lock from whoever holds it and gives it to the next waiter. The old holder is told; until
   * it has heard, two may work at once, which only the fencing token tells apart. False if it was free.
   * Any string at the lock's key is taken away, whoever wrote it, with or without an end: in our own format, in plain,
   * Spring's and python-redis-lock's, any text may be a holder's token.
   * @throws ForeignLockError if the key holds no lock.
   */
  async forceRelease(key: string, options: LookOptions = {}): Promise<boolean> {
    const dialect = dialectOf(options, this.#settings);
    return this.#leases.administration.force(this.#name(key), dialect);
  }

  /**
   * This replica's part in the election of a leader. Asks nothing of Redis until it campaigns; two elections
   * of one name are two candidates.
   * @throws LockKeyError, LockOptionsError
   */
  election(name: string, options: ElectionOptions = {}): Election {
    const key = this.#name(ELECTION_PREFIX + this.#name(name));
    const settings = callSettings({ ...options, ...ELECTION_CALL }, this.#settings.call);
    return new Election(this.#leases, key, settings);
  }

  /** Called by Nest: connects. */
  async onModuleInit(): Promise<void> {
    if (this.#settings.lazyConnect) return;
    await this.#leases.open();
    logStart(this.#leases.describeStore(), this.#settings);
  }

  /** Called by Nest: nobody waits and nobody comes any more; code that runs keeps its locks, for `shutdownGrace` from now on. */
  onModuleDestroy(): void {
    void this.#leases.drain().then((taken) => this.#logTaken(taken));
  }

  /** Called by Nest: waits for code that runs under locks, gives back what is left and disconnects. */
  async onApplicationShutdown(): Promise<void> {
    await this.#leases.drain();
    this.#logTaken(this.#leases.takeAll());
    await this.#leases.close();
  }

  #logTaken(taken: readonly string[]): void {
    logTaken(taken, this.#settings.shutdownGrace);
  }

  #name(key: string): string {
    return lockName(key, this.#settings.limits.keyBytes);
  }

  /** Never throws but rejects; options that are not given cost nothing. */
  #run<T>(
    key: string | readonly string[],
    options: WithLockOptions | undefined,
    step: (names: string | readonly string[], call: CallSettings) => Promise<T>,
  ): Promise<T> {
    const { limits, call } = this.#settings;
    try {
      const settings = options ? callSettings(options, call, ['signal', 'mode', 'onLost']) : call;
      return step(lockNames(key, limits.keyBytes), settings);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}
