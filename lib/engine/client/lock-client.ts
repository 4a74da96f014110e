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
import type { CallSettings, Clock, DialectSettings, ModuleSettings } from '../options/index.js';
import { checkStore, onAbort, throwIfAborted } from '../options/index.js';
import { Cleanup, type OnRefused } from './cleanup.js';
import { Conditions } from './condition-wait.js';
import { type HandOver, restore } from './hand-over.js';
import { LeaseRegistry } from './lease-registry.js';
import type { BaseLease } from './lease.js';
import { LocalQueues, type ProcessHealth } from './local-queues.js';
import { LockOrder, nestedWait } from './lock-order.js';
import { acquireMany } from './multi-lease.js';
import { Opening } from './opening.js';
import { Section } from './section.js';
import { reenter, SingleLease } from './single-lease.js';
import { endsWithin } from './timers.js';

/** How long giving everything back may wait for the store at the end, in ms. */
const FAREWELL = 750;

/** Why a call for locks that were all held around it begins anew: one of them is not any more. */
const GIVEN_BACK = Symbol('given back');

/** One process on one store: it waits for locks, holds and renews them, announces their loss and gives them back. */
export class LockClient {
  readonly #cleanup: Cleanup;
  readonly #registry: LeaseRegistry;
  readonly #queues: LocalQueues;
  readonly #order: LockOrder | undefined;
  readonly conditions: Conditions;
  readonly #opening: Opening;
  /** Aborts when nobody may wait any more. */
  readonly #stopping = new AbortController();
  /** Aborts when what is held is taken. */
  readonly #taking = new AbortController();
  #drained: Promise<readonly string[]> | undefined;

  constructor(
    private readonly store: LockStore,
    private readonly settings: ModuleSettings,
    readonly clock: Clock,
    /** Called for locks that are taken in opposite orders, where the module warns of them. */
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
    this.conditions = new Conditions(this.#queues.context);
  }

  /** Connects; before the first call at the latest. */
  open(): Promise<void> {
    return this.#opening.open();
  }

  /** Resolves when it is connected for the first time, whoever asked for it. */
  get opened(): Promise<void> {
    return this.#opening.opened;
  }

  /**
   * A lease on `key`, or on several together, or an error: `wait: 0` asks once. `tries`: a lock that is not free is no error.
   * `from`: when the call began.
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
      if (call.dialect) checkStore(call.dialect, this.settings);
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

  /** @throws what refuses the call at once. */
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

  /** Whether the code around holds none of it, or not all; not any more, maybe. */
  #isNew(key: string | readonly string[], call: CallSettings): boolean {
    const isNew = (each: string): boolean =>
      Section.toReenter(this.#registry, each, call)?.givenBack ?? true;
    return typeof key === 'string' ? isNew(key) : key.some(isNew);
  }

  /** Acquires where something comes before the waiting. Rejects with `GIVEN_BACK` where the call begins anew, as one that events tell. */
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

  /** Goes on with a lease that another process handed over. */
  async restore(handOver: HandOver): Promise<BaseLease> {
    const { key } = handOver.request;
    await this.#connected(key);
    if (this.isStopping) throw new LockShutdownError(key);
    this.#queues.refuseBeyond('leases', key);
    const coming = restore(handOver, this.#queues.context, this.#taking.signal);
    return new SingleLease(this.#registry, await this.#registry.addWhenGranted(coming), 0);
  }

  /** As {@link acquire}, but null where others hold the lock. */
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

  /** The lease of the innermost section around the running code: on `key`, or any. */
  current(key?: string): BaseLease | undefined {
    const fits = (request: { key: string }): boolean => key === undefined || request.key === key;
    return Section.current(this.#registry, fits)?.lease;
  }

  /** Where an optimistic read begins. */
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

  /** What can be seen of a lock, whoever holds it; `most`: how many waiters, or holders, are named. */
  async inspect(key: string, most: number, dialect?: DialectSettings): Promise<Snapshot> {
    await this.open();
    return this.store.inspect(key, most, dialect);
  }

  /** The names of locks that were not free when they were looked for. */
  async names(search: NameSearch): Promise<string[]> {
    await this.open();
    return this.store.names(search);
  }

  /** Takes the lock from its holder: whoever that is, or with a `sight` only from who was seen. False if it has none. */
  async force(
    key: string,
    dialect?: DialectSettings,
    sight?: string,
  ): Promise<boolean | 'another'> {
    await this.open();
    return this.store.force(key, dialect, sight);
  }

  /** Runs `task` when nobody may wait any more. Returns how to call it off. */
  onStop(task: () => void): () => void {
    if (!this.isStopping) return onAbort(this.#stopping.signal, task);
    task();
    return () => {};
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Refuses new calls and rejects those that wait. What is held stays held, and may be entered again. */
  stopWaiting(): void {
    this.#stopping.abort();
    this.#queues.rejectAll((key) => new LockShutdownError(key));
  }

  /**
   * Waits for what is in hand, once nothing new comes in: that is renewed until it is given back, at most for the
   * grace from the first call on, which takes what is left then and tells its holders. Resolves to the keys of that.
   * Without a grace it waits for nothing and takes nothing.
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

  /** Begins to give back all that is held, and tells its holders. The keys of that. */
  takeAll(): readonly string[] {
    this.#taking.abort();
    return this.#registry.releaseAll();
  }

  /** Gives back all that is held, in bounded time, and closes the store. */
  async close(): Promise<void> {
    this.stopWaiting();
    this.takeAll();
    this.#opening.close();
    const gone = this.#cleanup
      .close()
      .then(() => this.#registry.idle())
      .then(() => this.#cleanup.close()); // of what could not be given back
    await endsWithin(FAREWELL, gone, this.clock);
    await this.store.close();
  }

  /** How the store is, connected to first, within so many ms, and then how this process is. Never rejects. */
  async health(within: number, ttl: number): Promise<StoreHealth & ProcessHealth> {
    const store = await this.store.health(await this.#opening.rest(within));
    const shortestTtl = this.#registry.shortestTtl(ttl);
    return { ...store, shortestTtl, reached: this.#queues.reached };
  }

  /** What the store was found to be. */
  describeStore(): StoreDescription {
    return this.store.describe();
  }

  /** What this process has in hand, for tests and for health checks. */
  get load(): { held: number; waiting: number; leaving: number; watched: number } {
    const { size: held, watched } = this.#registry;
    const waiting = this.#queues.size + this.conditions.size;
    return { held, waiting, leaving: this.#cleanup.size, watched };
  }
}
