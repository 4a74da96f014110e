import {
  Injectable,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { LockOptionsError } from '../../engine/errors/index.js';
import { lockName, lockNames } from '../../engine/keys/index.js';
import { readHandOver } from '../../engine/client/leases/hand-over.js';
import type { Lease } from '../../engine/client/leases/lease.js';
import { LockClient } from '../../engine/client/lock-client.js';
import { SingleLease } from '../../engine/client/leases/single-lease.js';
import type { Stamp } from '../../engine/locks/stamp.js';
import { withLease, type Work } from './run-under-lease.js';
import { type LockEvents, Publisher } from '../../engine/events/index.js';
import { refuseInVain } from '../../engine/locks/preconditions.js';
import type { LockStore } from '../../engine/locks/lock-store.js';
import {
  type AcquireOptions,
  asyncDispose,
  type CallSettings,
  callSettings,
  type Clock,
  type ModuleSettings,
  type WithLockOptions,
} from '../../engine/options/index.js';
import { Condition } from './condition.js';
import { Election, ELECTION_PREFIX, type ElectionOptions, electionSettings } from './election.js';
import {
  HealthCheck,
  type HealthOptions,
  type LockHealth,
} from '../../engine/inspection/health.js';
import {
  formatOf,
  inspectLock,
  type InspectOptions,
  type ListOptions,
  listLocks,
  type LockInspection,
} from '../../engine/inspection/inspection.js';
import { logStart, logTaken, refusalLog, withWayOut } from './log.js';
import { logger } from './logger.js';
import { Semaphore, type SemaphoreOptions } from './semaphore.js';

/**
 * The injectable service for distributed locks. A key names a lock; a `Lease` is one acquisition of it.
 *
 * A cancelled call holds nothing: when its `signal` aborts or its `wait` is over, the call leaves the queue. A grant that
 * arrives late is given back in the background.
 */
@Injectable()
export class LockService
  implements OnModuleInit, OnModuleDestroy, OnApplicationShutdown, AsyncDisposable
{
  readonly #client: LockClient;
  readonly #settings: ModuleSettings;
  readonly #health: HealthCheck;

  /** @internal */
  constructor(client: LockClient, settings: ModuleSettings) {
    this.#client = client;
    this.#settings = settings;
    this.#health = new HealthCheck(client, settings);
  }

  /** Creates a service whose locks live in `store`. @internal */
  static on(
    store: LockStore,
    settings: ModuleSettings,
    clock: Clock,
    publisher: Publisher,
  ): LockService {
    const warn = (error: Error): void => logger.warn(error.stack);
    const client = new LockClient(store, settings, clock, warn, refusalLog(), publisher);
    return new LockService(client, settings);
  }

  /**
   * Emits the events of this module's locks in this process: `locks.events.on('lost', ({ key, reason }) => …)`. {@link
   * lockChannels} carries the events of all modules. Without a listener, events cost nothing.
   */
  get events(): LockEvents {
    return this.#client.publisher.emitter;
  }

  /**
   * Gives decorators and the interceptor the client and the settings of a service.
   * @throws LockOptionsError for a stand-in that a test provides.
   * @internal
   */
  static internals(service: LockService): { client: LockClient; settings: ModuleSettings } {
    if (!LockService.isGenuine(service)) {
      throw new LockOptionsError(
        'Decorators cannot lock by this LockService, which is a stand-in. In tests use LockTestingModule.forRoot() or memoryLockService() from "nest-redis-lock/testing".',
      );
    }
    return { client: service.#client, settings: service.#settings };
  }

  /** False for a stand-in that a test provides. @internal */
  static isGenuine(service: LockService): boolean {
    return #settings in service;
  }

  /**
   * Waits for the lock, at most for `wait`, and holds it until `release`. Several keys are acquired all or none, in one round
   * trip when they are free, and without a deadlock whatever their order. Up to 100 keys; one lease holds them.
   * @example
   * ```ts
   * const lease = await locks.acquire('account:42', { wait: '5s', signal });
   * await pay(42, lease.fencingToken).finally(() => lease.release());
   * ```
   * @throws LockNotAcquiredError when `wait` is over; LockStoreError when Redis fails; ForeignLockError, LockKeyError,
   * LockLimitError, LockOptionsError, LockShutdownError; LockUpgradeError inside a shared lease on the same lock;
   * `signal.reason` when aborted.
   */
  acquire(key: string | readonly string[], options?: AcquireOptions): Promise<Lease> {
    try {
      const call = this.#call(options);
      return this.#client.acquire(this.#names(key), call, options?.signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Asks Redis once and never waits. Resolves to null if another caller holds the lock. Errors as in {@link acquire}. */
  tryAcquire(
    key: string | readonly string[],
    options?: Omit<AcquireOptions, 'wait'>,
  ): Promise<Lease | null> {
    try {
      const call = this.#call(options);
      return this.#client.tryAcquire(this.#names(key), call, options?.signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Runs `work` under one or several locks and releases them when it ends, also by an error. Code inside can acquire the same
   * keys again. The call settles as the work does, except that a success after a lost lease rejects with `LeaseLostError`.
   * Errors of waiting as in {@link acquire}. A `signal` cancels the wait; work that has begun always runs to its end.
   * @example `await locks.withLock('account:42', { wait: '5s' }, (lease) => pay(42, lease.fencingToken));`
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
   * Returns a semaphore of `permits` permits over all replicas. This call does not reach Redis.
   * @example `await locks.semaphore('exports', { permits: 3 }).withPermit(() => exportOrders());`
   * @throws LockKeyError, LockOptionsError
   */
  semaphore(name: string, options: SemaphoreOptions): Semaphore {
    this.#refuseDialect('semaphore()');
    return new Semaphore(this.#client, this.#settings.call, this.#name(name), options);
  }

  /**
   * Returns a condition variable of the lock that `lease` holds.
   * @throws LockKeyError; LockOptionsError if the lease is on several locks, or another `LockService` granted it.
   */
  condition(lease: Lease, name: string): Condition {
    if (lease instanceof SingleLease) return new Condition(this.#client.conditions, lease, name);
    throw new LockOptionsError(
      lease.keys.length === 1
        ? 'A condition needs a lease that this library granted.'
        : 'A condition belongs to one lock: this lease holds several.',
    );
  }

  /**
   * Begins an optimistic read: take the stamp, read without a lock, and use the data only if `stamp.validate()` is true.
   * Writers are not delayed. `Stamp.validate` lists what a stamp cannot see, above all holders with `fencing: false`.
   * @example `const stamp = await locks.optimistic(key); const data = await read(); if (await stamp.validate()) use(data);`
   * @throws LockOptionsError where the module has `fencing: false` or a dialect; LockStoreError when Redis fails;
   * ForeignLockError on the name of a semaphore; LockKeyError.
   */
  async optimistic(key: string): Promise<Stamp> {
    this.#refuseDialect('optimistic()');
    return this.#client.optimistic(this.#name(key));
  }

  /**
   * Continues a lease that another process gave away by `lease.handOver()`. This process then holds the lock alone, with the
   * same fencing token, and renews it. Only the first `restore` of a text succeeds. After a lost answer the call asks once
   * more, so it takes at most twice `commandTimeout`. Of several locks it restores all, or gives back those that are left.
   * @example
   * ```ts
   * const lease = await locks.restore(job.data.lock);
   * await pay(42, lease.fencingToken).finally(() => lease.release());
   * ```
   * @throws LeaseLostError if the lease was restored before, was forced free, or has ended; LockStoreError when Redis fails:
   * try again; LockKeyError for a text of another origin; LockOptionsError on a quorum; LockLimitError; LockShutdownError:
   * this process holds nothing then, and another may restore the lease unless this call was in flight when `shutdownGrace`
   * ended.
   */
  async restore(text: string): Promise<Lease> {
    return this.#client.restore(this.#handedOver(text));
  }

  /**
   * Gives back the lease that a process gave away by `lease.handOver()`, instead of restoring it: the next caller in the queue
   * has the lock. Resolves to false if the lease was restored or discarded before, was forced free, or has ended. A rest of its
   * `minHold` keeps the lock taken. Of several locks the first decides, and those that are left are given back.
   * @example `const wasOnItsWay = await locks.discard(job.data.lock);`
   * @throws LockStoreError when Redis fails: the lock is given back as soon as it answers, at the latest when its ttl is over;
   * LockKeyError for a text of another origin; LockShutdownError.
   */
  async discard(text: string): Promise<boolean> {
    return this.#client.discard(this.#handedOver(text));
  }

  /** Returns the lease around the running code: the one on `key`, or the innermost. Undefined outside of any lease. */
  current(key?: string): Lease | undefined {
    return this.#client.current(key);
  }

  /**
   * Resolves to the holders of a lock, their start times, and the number of waiting callers. A lock of another format needs the
   * `dialect` that it was acquired with.
   */
  async inspect(key: string, options: InspectOptions = {}): Promise<LockInspection> {
    const format = formatOf(options, this.#settings);
    return inspectLock(this.#client, this.#name(key), format);
  }

  /**
   * Lists the held locks whose keys match `pattern` (`*` stands for any text), each as {@link inspect} shows it. The call scans
   * all keys of Redis, 1,000 at a time, so it is for operators. A lock that changes during the scan may be missing. Above
   * `limit`, Redis decides which locks are returned.
   * @example `const locked = await locks.list('account:*', { limit: 50 });`
   * @throws LockKeyError; LockOptionsError, also for `*` in a dialect without a prefix, where any string may look like a lock;
   * LockStoreError when Redis fails, or one node of a Cluster: its locks would seem free.
   */
  list(pattern = '*', options: ListOptions = {}): Promise<LockInspection[]> {
    return listLocks(this.#client, pattern, options, this.#settings);
  }

  /**
   * Takes the lock from its holder and hands it to the next waiting caller. Resolves to false if the lock was free. The holder
   * is told at once; on a quorum, its next renewal tells it. Until the holder knows, two callers may work at once; only the
   * fencing token tells their writes apart. Any string at the key is removed: in most formats any text may be a holder's token.
   * @throws ForeignLockError if the key holds no lock.
   */
  async forceRelease(key: string, options: InspectOptions = {}): Promise<boolean> {
    const format = formatOf(options, this.#settings);
    return (await this.#client.force(this.#name(key), format)) === true;
  }

  /**
   * Reports whether a lock would be granted now, and what is wrong. The call connects if necessary, takes no lock, and answers
   * within `timeout` (300 ms), also while Redis hangs or is gone.
   * @throws LockOptionsError for a wrong option, and nothing else.
   */
  health(options?: HealthOptions): Promise<LockHealth> {
    return this.#health.run(options);
  }

  /**
   * Returns this replica's candidacy in the election of a leader. Redis is not asked before `campaign`. Two `Election` objects
   * with one name are two candidates.
   * @example `const lease = await locks.election('scheduler').campaign({ signal });`
   * @throws LockKeyError, LockOptionsError
   */
  election(name: string, options: ElectionOptions = {}): Election {
    const key = this.#name(ELECTION_PREFIX + this.#name(name));
    const settings = electionSettings(key, options, this.#settings.call);
    refuseInVain(key, settings, this.#settings);
    return new Election(this.#client, key, settings);
  }

  /** Called by Nest: connects, and logs the server and the options in force. With `lazyConnect`, the first call does both. */
  async onModuleInit(): Promise<void> {
    const logged = this.#client.opened.then(() =>
      logStart(this.#client.describeStore(), this.#settings),
    );
    if (this.#settings.lazyConnect) return;
    await this.#client.open().catch((error: unknown) => {
      throw withWayOut(error);
    });
    await logged;
  }

  /** Called by Nest: rejects new and waiting calls. Running code keeps its locks, for at most `shutdownGrace` from now on. */
  onModuleDestroy(): void {
    if (this.#client.isStopping) return;
    void this.#client.drain().then((taken) => this.#logTaken(taken));
  }

  /**
   * Called by Nest: waits for code that runs under locks, until `shutdownGrace` is over. Then it releases the leases that are
   * left, and disconnects.
   */
  async onApplicationShutdown(): Promise<void> {
    await this.#client.drain();
    this.#logTaken(this.#client.takeAll());
    this.#health.close();
    await this.#client.close();
  }

  /** For `await using` where no Nest application closes the service: runs the steps of its shutdown. Idempotent. */
  async [asyncDispose](): Promise<void> {
    await this.onApplicationShutdown();
  }

  #logTaken(taken: readonly string[]): void {
    logTaken(taken, this.#settings.shutdownGrace);
  }

  /** @throws LockOptionsError where the module's locks are written in another service's format. */
  #refuseDialect(what: string): void {
    const { name, queue } = this.#settings.call.format;
    if (queue) return;
    throw new LockOptionsError(
      `${what} works on locks of our own, and this module has dialect "${name}": give the dialect to the calls that need it, or use a module without one.`,
    );
  }

  #name(key: string): string {
    return lockName(key, this.#settings.limits.keyBytes);
  }

  #names(keys: string | readonly string[]): string | readonly string[] {
    return lockNames(keys, this.#settings.limits.keyBytes);
  }

  /** @throws LockKeyError */
  #handedOver(text: string): ReturnType<typeof readHandOver> {
    const parts = readHandOver(text);
    for (const { request } of parts) this.#name(request.key);
    return parts;
  }

  /** Returns the settings of one call; a call without options shares the module's, at no cost. */
  #call(options: WithLockOptions | undefined): CallSettings {
    const { call } = this.#settings;
    return options
      ? callSettings(options, call, ['signal', 'mode', 'name', 'label', 'onLost'])
      : call;
  }
}
