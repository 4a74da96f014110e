import {
  LockNotAcquiredError,
  LockOptionsError,
  type LockOrderError,
  LockShutdownError,
} from '../errors/index.js';
import { type AcquireTrace, Publisher } from '../events/index.js';
import type { NameSearch } from '../locks/lock-names.js';
import { Stamp } from '../locks/stamp.js';
import type { LockStore, Snapshot, StoreDescription, StoreHealth } from '../locks/lock-store.js';
import type { CallSettings, Clock, LockFormat, ModuleSettings } from '../options/index.js';
import { checkStore, onAbort, throwIfAborted } from '../options/index.js';
import { Cleanup, type OnRefused } from './leases/cleanup.js';
import { Conditions } from './condition-wait.js';
import type { HandOver } from './leases/hand-over.js';
import { LeaseRegistry } from './leases/lease-registry.js';
import type { BaseLease } from './leases/lease.js';
import { LocalQueues, type ProcessHealth } from './queue/local-queues.js';
import { LockOrder, nestedWait } from './lock-order.js';
import { acquireMany } from './leases/multi-lease.js';
import { Opening } from './opening.js';
import { Section } from './leases/section.js';
import { discardAll, restoreAll } from './restore.js';
import { reenter } from './leases/single-lease.js';
import { endsWithin } from './leases/timers.js';

/** How long `close` waits for the store to take everything back, in ms. */
const CLOSE_TIMEOUT = 750;

/** Rejects a call whose locks were all held around it, until one was given back: the call begins anew. */
const GIVEN_BACK = Symbol('given back');

/** One process on one store: it waits for locks, holds and renews them, announces their loss and gives them back. */
export class LockClient {
  readonly #cleanup: Cleanup;
  readonly #registry: LeaseRegistry;
  readonly #queues: LocalQueues;
  readonly #order: LockOrder | undefined;
  readonly conditions: Conditions;
  readonly #opening: Opening;
  /** Aborts when no call may wait any more. */
  readonly #stopping = new AbortController();
  /** Aborts when all leases are taken back. */
  readonly #taking = new AbortController();
  #drained: Promise<readonly string[]> | undefined;

  constructor(
    private readonly store: LockStore,
    private readonly settings: ModuleSettings,
    readonly clock: Clock,
    /** Called for locks that are taken in opposite orders, if `lockOrder` is `warn`. */
    warn: (error: LockOrderError) => void = () => {},
    onRefused: OnRefused = () => {},
    readonly publisher = new Publisher({ topology: 'redis', module: undefined }, clock),
  ) {
    const { commandTimeout, lockOrder } = settings;
    const { signal } = this.#stopping;
    this.#cleanup = new Cleanup(store, clock, onRefused);
    this.#registry = new LeaseRegistry(store, clock, this.#cleanup, onRefused, publisher);
    this.#queues = new LocalQueues(store, settings, clock, this.#cleanup, this.#registry, signal);
    this.#opening = new Opening(store, this.#queues.pushes, commandTimeout, clock, signal);
    if (lockOrder !== 'ignore') {
      this.#order = new LockOrder(this.#registry, lockOrder === 'warn' ? warn : undefined);
    }
    this.conditions = new Conditions(this.#queues);
  }

  /** Connects to the store; the first call does so at the latest. */
  open(): Promise<void> {
    return this.#opening.open();
  }

  /** Resolves at the first connection to the store, whoever asked for it. */
  get opened(): Promise<void> {
    return this.#opening.opened;
  }

  /**
   * Acquires `key`, or several keys together; `wait: 0` asks once. A call that fails or is aborted leaves nothing: a caller
   * that gave up holds nothing. `tries`: a lock that is not free is no error. `from`: when the call began, in monotonic ms.
   */
  acquire(
    key: string | readonly string[],
    call: CallSettings,
    signal?: AbortSignal,
    tries = false,
    from = this.clock.monotonic(),
  ): Promise<BaseLease> {
    let coming: Promise<BaseLease>;
    try {
      checkStore(call.format, this.settings);
      this.#order?.check(key, call);
      if (this.publisher.hearsCall(call) && this.#isNew(key, call)) {
        const take = async (trace: AcquireTrace): Promise<BaseLease> =>
          this.#take(key, call, signal, from, trace);
        coming = this.publisher.call(key, call, signal, tries, take);
      } else coming = this.#take(key, call, signal, from);
    } catch (error) {
      return Promise.reject(error);
    }
    if (!Section.isAround) return coming;
    const anew = coming.catch((error: unknown) => {
      if (error !== GIVEN_BACK) throw error;
      return this.acquire(key, call, signal, tries, from);
    });
    return call.wait > 0 ? nestedWait(anew, call, this.#registry) : anew;
  }

  /** @throws the error of a call that is refused at once. */
  #take(
    key: string | readonly string[],
    call: CallSettings,
    signal: AbortSignal | undefined,
    from: number,
    trace?: AcquireTrace,
  ): Promise<BaseLease> {
    if (typeof key !== 'string') {
      return acquireMany(key, call, this.clock, signal, trace, from, (each, part, until) =>
        this.#take(each, part, until, this.clock.monotonic(), trace),
      );
    }
    const section = Section.toReenter(this.#registry, key, call);
    if (section || !this.#opening.done) {
      return this.#prepare(key, call, section, signal, from, trace);
    }
    this.#admit(key, signal);
    return this.#queues.of(key, call).join(call, from, trace, signal);
  }

  /** Whether the call is more than a re-entry: the code around does not hold all of its keys, or holds them no more. */
  #isNew(key: string | readonly string[], call: CallSettings): boolean {
    const isNew = (each: string): boolean =>
      Section.toReenter(this.#registry, each, call)?.givenBack ?? true;
    return typeof key === 'string' ? isNew(key) : key.some(isNew);
  }

  /** Acquires once a re-entry was tried and the store is open. Rejects with `GIVEN_BACK` if the call has to begin anew. */
  async #prepare(
    key: string,
    call: CallSettings,
    section: Section | undefined,
    signal: AbortSignal | undefined,
    from: number,
    trace: AcquireTrace | undefined,
  ): Promise<BaseLease> {
    for (;;) {
      const again =
        section && (await reenter(section, call, this.#registry, this.clock, signal, from));
      if (again) return again;
      if (section && !trace && this.publisher.hearsCall(call)) throw GIVEN_BACK;
      throwIfAborted(signal);
      if (!this.#opening.done) await this.#connected(key, signal);
      this.#admit(key, signal);
      const wait = (until = signal): Promise<BaseLease> =>
        this.#queues.of(key, call).join(call, from, trace, until);
      if (!section) return wait();
      const lease = await section.waitBeside(signal, wait);
      if (lease) return lease;
    }
  }

  async #connected(key: string, signal?: AbortSignal): Promise<void> {
    if (!this.#opening.done && !this.isStopping) await this.#opening.within(key, signal);
  }

  /** @throws LockShutdownError, LockLimitError if no more may be held or wait, `signal.reason`. */
  #admit(key: string, signal?: AbortSignal): void {
    throwIfAborted(signal);
    if (this.isStopping) throw new LockShutdownError(key);
    this.#queues.refuseBeyond('leases', key);
    this.#queues.refuseBeyond('waitersPerProcess', key);
  }

  /** Goes on with what another process handed over. */
  async restore(parts: readonly [HandOver, ...HandOver[]]): Promise<BaseLease> {
    const { key } = parts[0].request;
    await this.#connected(key);
    if (this.isStopping) throw new LockShutdownError(key);
    this.#queues.refuseBeyond('leases', key, parts.length);
    return restoreAll(parts, this.#queues, this.#taking.signal);
  }

  /** Gives back what a process handed over, instead of going on with it; false if it was over, or another did. */
  async discard(parts: readonly [HandOver, ...HandOver[]]): Promise<boolean> {
    const { key } = parts[0].request;
    const opened = (): Promise<void> => this.#connected(key).then(() => this.open());
    return this.#registry.during(() => discardAll(parts, this.#queues, opened));
  }

  /** As {@link acquire}, but null if others hold the lock. */
  async tryAcquire(
    key: string | readonly string[],
    call: CallSettings,
    signal?: AbortSignal,
  ): Promise<BaseLease | null> {
    try {
      return await this.acquire(key, { ...call, wait: 0 }, signal, true);
    } catch (error) {
      if (error instanceof LockNotAcquiredError) return null;
      throw error;
    }
  }

  /** The lease of the innermost section around the running code, on `key` or on any lock. */
  current(key?: string): BaseLease | undefined {
    const fits = (request: { key: string }): boolean => key === undefined || request.key === key;
    return Section.current(this.#registry, fits)?.lease;
  }

  /** Begins an optimistic read. */
  async optimistic(key: string): Promise<Stamp> {
    if (!this.settings.call.fencing) {
      throw new LockOptionsError(
        'optimistic() sees writers by their fencing tokens, and this module has "fencing: false".',
      );
    }
    await this.#connected(key);
    await this.open();
    return Stamp.take(key, () => this.store.stamp(key));
  }

  /** A snapshot of a lock, whoever holds it. `most`: how many waiters, and how many holders, are named. */
  async inspect(key: string, most: number, format?: LockFormat): Promise<Snapshot> {
    await this.open();
    return this.store.inspect(key, most, format);
  }

  /** The names of locks that were not free when the search saw them. */
  async names(search: NameSearch): Promise<string[]> {
    await this.open();
    return this.store.names(search);
  }

  /** Takes the lock from its holder; with a `sight`, only from the holder that was seen. False if the lock has none. */
  async force(key: string, format?: LockFormat, sight?: string): Promise<boolean | 'another'> {
    await this.open();
    return this.store.force(key, format, sight);
  }

  /** Runs `task` when no call may wait any more. Returns a function that calls the task off. */
  onStop(task: () => void): () => void {
    if (!this.isStopping) return onAbort(this.#stopping.signal, task);
    task();
    return () => {};
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Refuses new calls and rejects those that wait. Leases stay held, and may be re-entered. */
  stopWaiting(): void {
    this.#stopping.abort();
    this.#queues.rejectAll((key) => new LockShutdownError(key));
  }

  /**
   * Refuses new calls, and waits until all leases are given back. They are renewed meanwhile, at most for the grace period
   * from the first call on. Then the rest is taken back and its holders are told. Resolves to the keys of that rest.
   * Without a grace period it waits for nothing and takes nothing.
   */
  drain(): Promise<readonly string[]> {
    this.stopWaiting();
    const { shutdownGrace } = this.settings;
    this.#drained ??=
      shutdownGrace === 0
        ? Promise.resolve([])
        : endsWithin(shutdownGrace, this.#registry.idle(), this.clock).then((idle) =>
            idle ? [] : this.takeAll(),
          );
    return this.#drained;
  }

  /** Begins to give back all leases, and tells their holders. Returns their keys. */
  takeAll(): readonly string[] {
    this.#taking.abort();
    return this.#registry.releaseAll();
  }

  /** Gives back all leases, in bounded time, and closes the store. */
  async close(): Promise<void> {
    this.stopWaiting();
    this.takeAll();
    this.#opening.close();
    const gone = this.#cleanup
      .close()
      .then(() => this.#registry.idle())
      .then(() => this.#cleanup.close()); // releases that failed meanwhile left cleanups
    await endsWithin(CLOSE_TIMEOUT, gone, this.clock);
    await this.store.close();
  }

  /** The health of the store, connected to within `within` ms, and of this process. Never rejects. */
  async health(within: number, ttl: number): Promise<StoreHealth & ProcessHealth> {
    const store = await this.store.health(await this.#opening.rest(within));
    const shortestTtl = this.#registry.shortestTtl(ttl);
    return { ...store, shortestTtl, reached: this.#queues.reached };
  }

  /** The product, version and topology of the store, as far as they are known. */
  describeStore(): StoreDescription {
    return this.store.describe();
  }

  /** How many leases and calls this process has in hand, for tests and for health checks. */
  get load(): { held: number; waiting: number; leaving: number; watched: number } {
    const { size: held, watched } = this.#registry;
    const waiting = this.#queues.waiting + this.conditions.size;
    return { held, waiting, leaving: this.#cleanup.size, watched };
  }
}
