import {
  LockLimitError,
  LockNotAcquiredError,
  LockOptionsError,
  type LockOrderError,
  type LockStoreError,
  LockShutdownError,
} from '../errors/index.js';
import { newHolderId } from '../locks/holder.js';
import type { LockStore, PushListener, StoreDescription } from '../locks/lock-primitive.js';
import type { CallSettings, Clock, ModuleSettings } from '../options/index.js';
import { checkStore } from '../options/index.js';
import { Administration } from './administration.js';
import { Conditions } from './conditions.js';
import { Cleanup } from './cleanup.js';
import { HeldLocks } from './held-locks.js';
import type { HandOver } from './hand-over.js';
import type { BaseLease } from './base-lease.js';
import { LocalQueues } from './local-queues.js';
import { LockOrder } from './lock-order.js';
import { acquireMany } from './multi-lease.js';
import { nestedWait } from './nested-wait.js';
import { Opening } from './opening.js';
import { Reentry } from './reentry.js';
import { Restoration } from './restoration.js';
import { Section } from './section.js';
import { SingleLease } from './single-lease.js';
import { Stamp } from './stamp.js';

/** How long giving everything back may wait for the store at the end, in ms. */
const FAREWELL = 750;

/** All leases of one process on one store: it waits, holds, renews, tells loss and gives back. */
export class Leases {
  readonly #cleanup: Cleanup;
  readonly #heldLocks: HeldLocks;
  readonly #queues: LocalQueues;
  readonly #reentry: Reentry;
  readonly #order: LockOrder | undefined;
  readonly conditions: Conditions;
  readonly administration: Administration;
  readonly #opening: Opening;
  readonly #restorations = new Set<Restoration>();
  readonly #atStop = new Set<() => void>();
  #closing = false;
  #drained: Promise<readonly string[]> | undefined;

  constructor(
    private readonly store: LockStore,
    private readonly settings: ModuleSettings,
    private readonly clock: Clock,
    /** Told of locks that are taken in opposite orders, where they are warned of. */
    warn: (error: LockOrderError) => void = () => {},
    /** Told of what the store refuses for good while nobody waits for its answer. */
    refused: (error: LockStoreError, step: 'release' | 'renewal') => void = () => {},
  ) {
    this.#opening = new Opening(store, () => this.#pushes, settings.commandTimeout, clock);
    this.#cleanup = new Cleanup(store.lock, clock, (error) => refused(error, 'release'));
    this.#heldLocks = new HeldLocks(store.lock, clock, this.#cleanup, (error) =>
      refused(error, 'renewal'),
    );
    this.#queues = new LocalQueues(store, settings, clock, this.#cleanup, this.#heldLocks);
    this.#order = LockOrder.watched(settings.lockOrder, this.#heldLocks, warn);
    this.#reentry = new Reentry(this.#heldLocks, clock);
    this.administration = new Administration(store, () => this.open());
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

  /** A lease on `key`, or on several together, or an error: `wait: 0` asks once. */
  acquire(
    key: string | readonly string[],
    call: CallSettings,
    signal?: AbortSignal,
  ): Promise<BaseLease> {
    let coming: Promise<BaseLease>;
    try {
      if (call.dialect) checkStore(call.dialect, this.settings);
      this.#order?.check(key, call);
      if (typeof key !== 'string') {
        coming = acquireMany(key, call, this.clock, (each, ask) => this.acquire(each, ask, signal));
      } else {
        const section = this.#reentry.section(key, call);
        if (section || !this.#opening.done) {
          coming = this.#prepare(key, call, section, signal);
        } else {
          this.#admit(key, signal);
          coming = this.#queues.wait(key, call, signal);
        }
      }
    } catch (error) {
      return Promise.reject(error);
    }
    return Section.isAround && call.wait > 0 ? nestedWait(coming, call, this.#heldLocks) : coming;
  }

  /** Acquires where something comes before the waiting. */
  async #prepare(
    key: string,
    call: CallSettings,
    section: Section | undefined,
    signal: AbortSignal | undefined,
  ): Promise<BaseLease> {
    signal?.throwIfAborted();
    const from = this.clock.monotonic();
    const again = section && (await this.#reentry.enter(section, call, signal));
    if (again) return again;
    if (!this.#opening.done && !this.#closing) await this.#opening.within(key, signal);
    this.#admit(key, signal);
    return this.#queues.wait(key, call, signal, from);
  }

  /** @throws LockShutdownError, LockLimitError if no more may be held, `signal.reason`. */
  #admit(key: string, signal?: AbortSignal): void {
    signal?.throwIfAborted();
    if (this.#closing) throw new LockShutdownError(key);
    const { leases } = this.settings.limits;
    if (this.#heldLocks.size >= leases) throw new LockLimitError(key, 'leases', leases);
  }

  /** Goes on with a lease that another process handed over. */
  async restore(handOver: HandOver): Promise<BaseLease> {
    const { key } = handOver.request;
    if (!this.#opening.done && !this.#closing) await this.#opening.within(key, undefined);
    this.#admit(key);
    const { commandTimeout } = this.settings;
    const { lock, processId } = this.store;
    const restoration = new Restoration(lock, this.clock, this.#cleanup, commandTimeout);
    this.#restorations.add(restoration);
    try {
      const coming = restoration.run(handOver, newHolderId(processId, handOver.request.tokens > 0));
      return new SingleLease(this.#heldLocks, await this.#heldLocks.bring(coming));
    } finally {
      this.#restorations.delete(restoration);
    }
  }

  /** As {@link acquire}, but undefined where others hold the lock. */
  async tryAcquire(
    key: string | readonly string[],
    call: CallSettings,
    signal?: AbortSignal,
  ): Promise<BaseLease | undefined> {
    try {
      return await this.acquire(key, { ...call, wait: 0 }, signal);
    } catch (error) {
      if (error instanceof LockNotAcquiredError) return undefined;
      throw error;
    }
  }

  /** The lease of the innermost section around the running code. */
  current(key?: string): BaseLease | undefined {
    return this.#reentry.current(key)?.lease;
  }

  /** Where an optimistic read begins. */
  async optimistic(key: string): Promise<Stamp> {
    if (!this.settings.call.fencing) {
      throw new LockOptionsError(
        'optimistic() sees writers by their fencing tokens, and this module has "fencing: false".',
      );
    }
    if (!this.#opening.done) await this.#opening.within(key, undefined);
    return Stamp.take(key, () => this.store.lock.stamp(key));
  }

  /** Runs `task` when nobody may wait any more. Returns how to call it off. */
  onStop(task: () => void): () => void {
    if (this.#closing) task();
    else this.#atStop.add(task);
    return () => this.#atStop.delete(task);
  }

  /** Refuses new calls and rejects those that wait. What is held stays held, and may be entered again. */
  stopWaiting(): void {
    if (this.#closing) return;
    this.#closing = true;
    const shutdown = (key: string): Error => new LockShutdownError(key);
    this.#opening.rejectAll(shutdown);
    this.#queues.rejectAll(shutdown);
    this.conditions.rejectAll(shutdown);
    for (const task of this.#atStop) task();
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
        : this.#within(shutdownGrace, this.#heldLocks.idle()).then((idle) =>
            idle ? [] : this.takeAll(),
          );
    return this.#drained;
  }

  /** Begins to give back all that is held, and tells its holders. The keys of that. */
  takeAll(): readonly string[] {
    for (const restoration of this.#restorations) restoration.giveUp();
    return this.#heldLocks.releaseAll();
  }

  /** Gives back all that is held, in bounded time, and closes the store. */
  async close(): Promise<void> {
    this.stopWaiting();
    this.takeAll();
    this.#opening.close();
    const gone = this.#cleanup
      .close()
      .then(() => this.#heldLocks.idle())
      .then(() => this.#cleanup.close()); // of what could not be given back
    await this.#within(FAREWELL, gone);
    await this.store.close();
  }

  /** Whether it comes to its end within `ms`. */
  async #within(ms: number, end: Promise<unknown>): Promise<boolean> {
    let cancel = (): void => {};
    const late = new Promise<false>((resolve) => {
      cancel = this.clock.after(ms, () => resolve(false));
    });
    const inTime = await Promise.race([end.then(() => true), late]);
    cancel();
    return inTime;
  }

  /** What the store was found to be. */
  describeStore(): StoreDescription {
    return this.store.describe();
  }

  /** What this process has in hand, for tests and for health checks. */
  get load(): { held: number; waiting: number; leaving: number; watched: number } {
    const { size: held, watched } = this.#heldLocks;
    return {
      held,
      waiting: this.#queues.size + this.conditions.size,
      leaving: this.#cleanup.size,
      watched,
    };
  }

  get #pushes(): PushListener {
    return {
      granted: this.#queues.granted,
      forced: (holder) => this.#heldLocks.forced(holder),
      kept: (lock, rest) => this.#queues.kept(lock, rest),
      reconnected: () => {
        this.#heldLocks.verifyAll();
        this.#queues.askAll();
      },
    };
  }
}
