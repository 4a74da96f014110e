import { LockLimitError, LockShutdownError, LockUpgradeError } from '../errors/index.js';
import type { LockStore, PushListener, Sight, StoreDescription } from '../locks/lock-primitive.js';
import { type CallSettings, type Clock, type ModuleSettings, READER } from '../options/index.js';
import { Departures } from './departures.js';
import { Holdings } from './holdings.js';
import { Lease } from './lease.js';
import { Opening } from './opening.js';
import { refuseStream } from './refuse-stream.js';
import { Section } from './section.js';
import { Trail } from './trail.js';
import { Waiters } from './waiters.js';

/** How long a shutdown may wait for Redis, in ms. */
const FAREWELL = 1_000;

/** All leases of one process on one store: it waits, holds, renews, tells loss and gives back. */
export class Leases {
  readonly #departures: Departures;
  readonly #holdings: Holdings;
  readonly #waiters: Waiters;
  readonly #opening: Opening;
  #closing = false;

  constructor(
    private readonly store: LockStore,
    private readonly settings: ModuleSettings,
    private readonly clock: Clock,
  ) {
    this.#opening = new Opening(store, () => this.#pushes, settings.commandTimeout, clock);
    this.#departures = new Departures(store.lock, clock);
    this.#holdings = new Holdings(store.lock, clock, this.#departures);
    this.#waiters = new Waiters(store, settings, clock, this.#departures, (holding) => {
      this.#holdings.add(holding);
      return new Lease(this.#holdings, holding);
    });
  }

  /** Connects; before the first call at the latest. */
  open(): Promise<void> {
    return this.#opening.open();
  }

  /** A lease on `key`, or an error: `wait: 0` asks once. */
  acquire(key: string, call: CallSettings, signal?: AbortSignal): Promise<Lease> {
    try {
      const section = this.#sectionAround(key, call);
      if (section || !this.#opening.done) return this.#prepare(key, call, section, signal);
      return this.#wait(key, call, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Acquires where something comes before the waiting. */
  async #prepare(
    key: string,
    call: CallSettings,
    section: Section | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Lease> {
    signal?.throwIfAborted();
    const again = section && (await this.#enterAgain(section, call, signal));
    if (again) return again;
    if (!this.#opening.done && !this.#closing) await this.#opening.within(key, signal);
    return this.#wait(key, call, signal);
  }

  #wait(key: string, call: CallSettings, signal: AbortSignal | undefined): Promise<Lease> {
    signal?.throwIfAborted();
    if (this.#closing) throw new LockShutdownError(key);
    const { leases } = this.settings.limits;
    if (this.#holdings.size >= leases) throw new LockLimitError(key, 'leases', leases);
    return this.#waiters.wait(key, call, signal);
  }

  /**
   * Runs `work` under a lease. Its result or its error always wins, save that a success after the
   * lease was lost is a `LeaseLostError` (unless `onLost` is 'ignore'). A running body is never abandoned.
   */
  async withLock<T>(
    key: string,
    call: CallSettings,
    work: (lease: Lease) => T | PromiseLike<T>,
    { signal, onLost }: { signal?: AbortSignal | undefined; onLost?: OnLost | undefined } = {},
  ): Promise<T> {
    const lease = await this.acquire(key, call, signal);
    let result: T;
    try {
      result = await lease.run(() => refuseStream(work(lease), key));
    } catch (error) {
      await lease.release();
      throw error;
    }
    await lease.finish(onLost);
    return result;
  }

  /** The lease of the innermost section around the running code. */
  current(key?: string): Lease | undefined {
    return Section.current(this.#holdings, key)?.lease;
  }

  async inspect(key: string, places: number): Promise<Sight> {
    await this.open();
    return this.store.lock.inspect(key, places);
  }

  async force(key: string): Promise<boolean> {
    await this.open();
    return this.store.lock.force(key);
  }

  /** Refuses every new call and rejects those who wait; what is held stays held. */
  stopWaiting(): void {
    this.#closing = true;
    this.#waiters.turnAway((key) => new LockShutdownError(key));
  }

  /** Gives back all that is held, in bounded time, and closes the store. */
  async close(): Promise<void> {
    this.stopWaiting();
    let cancel = (): void => {};
    const farewell = new Promise<void>((resolve) => {
      cancel = this.clock.after(FAREWELL, resolve);
    });
    const all = Promise.all([this.#holdings.releaseAll(), this.#departures.close()]);
    await Promise.race([all, farewell]);
    cancel();
    await this.store.close();
  }

  /** What the store was found to be. */
  describeStore(): StoreDescription {
    return this.store.describe();
  }

  /** What this process has in hand, for tests and for health checks. */
  get load(): { held: number; waiting: number; leaving: number; watched: number } {
    const { size: held, watched } = this.#holdings;
    return { held, waiting: this.#waiters.size, leaving: this.#departures.size, watched };
  }

  readonly #pushes: PushListener = {
    granted: (claim, grant) => {
      if (this.#waiters.granted(claim, grant) || this.#holdings.has(claim.holder)) return;
      this.#departures.leave(claim, new Trail(0)); // nobody here waits for it any more
    },
    forced: (holder) => this.#holdings.forced(holder),
    reconnected: () => {
      this.#holdings.verifyAll();
      this.#waiters.askAll();
    },
  };

  /** The section in which the lock is held already; of a semaphore one takes one more permit. */
  #sectionAround(key: string, { reentrant, share }: CallSettings): Section | undefined {
    if (!reentrant || (share && share !== READER)) return undefined;
    const section = Section.current(this.#holdings, key);
    const held = section?.holding.claim.share;
    if (held && held !== READER) return undefined;
    if (held && !share && section.holding.held) throw new LockUpgradeError(key);
    return section;
  }

  /** The same lock once more, without asking the store; undefined if its lease has been given back. */
  async #enterAgain(
    section: Section,
    call: CallSettings,
    signal: AbortSignal | undefined,
  ): Promise<Lease | undefined> {
    const leaveTurn = await section.enter(call, signal, this.clock);
    if (!leaveTurn) return undefined;
    const lease = new Lease(this.#holdings, section.holding, leaveTurn);
    if (lease.held) return lease;
    await lease.release();
    throw section.holding.lossError();
  }
}

type OnLost = 'throw' | 'ignore';
