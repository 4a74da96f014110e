import {
  LockLimitError,
  LockOptionsError,
  LockShutdownError,
  type LossReason,
} from '../errors/index.js';
import { newHolderId } from '../locks/holder.js';
import type {
  Claim,
  LockStore,
  PushListener,
  Sight,
  StoreDescription,
} from '../locks/lock-primitive.js';
import {
  type CallSettings,
  type Clock,
  type Duration,
  milliseconds,
  type ModuleSettings,
} from '../options/index.js';
import { Departures } from './departures.js';
import type { Holding } from './holding.js';
import { Lease, type LeaseHost } from './lease.js';
import { Section } from './section.js';
import { Trail } from './trail.js';
import { Waiter, type WaiterHost } from './waiter.js';
import { WaitingRoom } from './waiting-room.js';
import { Watchdog } from './watchdog.js';

/** How long a shutdown may wait for Redis, in ms. */
const FAREWELL = 1_000;

/** All leases of one process on one store: it waits, holds, renews, tells loss and gives back. */
export class Leases {
  readonly #waiters = new Map<string, Waiter>();
  readonly #held = new Map<string, Holding>();
  readonly #rooms = new Map<string, WaitingRoom>();
  readonly #watchdog: Watchdog;
  readonly #departures: Departures;
  readonly #waiterHost: WaiterHost;
  readonly #leaseHost: LeaseHost;
  #opening: Promise<void> | undefined;
  #open = false;
  #closing = false;

  constructor(
    private readonly store: LockStore,
    private readonly settings: ModuleSettings,
    private readonly clock: Clock,
  ) {
    const { lock, processId } = store;
    this.#watchdog = new Watchdog(lock, clock, (holding, reason) => this.#lose(holding, reason));
    this.#departures = new Departures(clock);
    this.#leaseHost = {
      extend: (holding, ttl) => this.#extend(holding, ttl),
      release: (holding) => this.#release(holding),
      verify: (holding) => this.#watchdog.verify([holding]),
      section: (holding, lease) => new Section(this, holding, lease),
    };
    this.#waiterHost = {
      lock,
      clock,
      settings,
      newHolderId: () => newHolderId(processId),
      room: (key) => this.#room(key),
      expect: (waiter) => this.#waiters.set(waiter.claim.holder, waiter),
      forget: (waiter) => {
        this.#waiters.delete(waiter.claim.holder);
        this.#rooms.get(waiter.claim.key)?.remove(waiter);
      },
      depart: ({ claim, trail }) => this.#depart(claim, trail),
      enter: (holding) => {
        this.#held.set(holding.claim.holder, holding);
        this.#watchdog.watch(holding);
      },
    };
  }

  /** Connects; before the first call at the latest. */
  open(): Promise<void> {
    this.#opening ??= this.store.open(this.#pushes).then(
      () => {
        this.#open = true;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }

  /** A lease on `key`, or an error: `wait: 0` asks once. */
  async acquire(key: string, call: CallSettings, signal?: AbortSignal): Promise<Lease> {
    signal?.throwIfAborted();
    const section = call.reentrant ? Section.current(this, key) : undefined;
    if (section) {
      const leaveTurn = await section.enter(call, signal, this.clock);
      if (leaveTurn) return this.#reentered(section.holding, leaveTurn);
    }
    if (!this.#open && !this.#closing) await abortable(this.open(), signal);
    if (this.#closing) throw new LockShutdownError(key);
    this.#checkLimits(key);
    const holding = await new Waiter(this.#waiterHost, key, call, signal).holding;
    holding.holds = 1;
    return new Lease(this.#leaseHost, holding);
  }

  /**
   * Runs `work` under a lease. Its result or its error always wins, save that a success after the
   * lease was lost is a `LeaseLostError` (unless `onLost` is 'ignore'). A running body is never abandoned.
   */
  async withLock<T>(
    key: string,
    call: CallSettings,
    work: (lease: Lease) => T | PromiseLike<T>,
    {
      signal,
      onLost = 'throw',
    }: { signal?: AbortSignal | undefined; onLost?: 'throw' | 'ignore' } = {},
  ): Promise<T> {
    const lease = await this.acquire(key, call, signal);
    let result: T;
    try {
      result = await lease.run(() => settled(work(lease), key));
    } catch (error) {
      await lease.release();
      throw error;
    }
    await lease.finish(onLost);
    return result;
  }

  /** The lease of the innermost section around the running code. */
  current(key?: string): Lease | undefined {
    return Section.current(this, key)?.lease;
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
    for (const waiter of this.#waiters.values()) {
      waiter.giveUp(new LockShutdownError(waiter.claim.key));
    }
  }

  /** Gives back all that is held, in bounded time, and closes the store. */
  async close(): Promise<void> {
    this.stopWaiting();
    const held = [...this.#held.values()];
    const released = Promise.allSettled(held.map((holding) => this.#giveBack(holding)));
    const farewell = new Promise<void>((resolve) => this.clock.after(FAREWELL, resolve));
    await Promise.race([Promise.all([released, this.#departures.close()]), farewell]);
    await this.store.close();
  }

  /** What the store was found to be. */
  describeStore(): StoreDescription {
    return this.store.describe();
  }

  /** What this process has in hand, for tests and for health checks. */
  get load(): { held: number; waiting: number; leaving: number; watched: number } {
    return {
      held: this.#held.size,
      waiting: this.#waiters.size,
      leaving: this.#departures.size,
      watched: this.#watchdog.watched,
    };
  }

  readonly #pushes: PushListener = {
    granted: (claim, grant) => {
      const waiter = this.#waiters.get(claim.holder);
      if (waiter) waiter.granted(grant);
      else if (!this.#held.has(claim.holder)) this.#depart(claim, new Trail(0));
    },
    forced: (holder) => {
      const holding = this.#held.get(holder);
      if (!holding) return;
      holding.suspected = 'forced';
      this.#watchdog.verify([holding]);
    },
    reconnected: () => {
      this.#watchdog.verify(this.#held.values());
      for (const room of this.#rooms.values()) room.askAll();
    },
  };

  #checkLimits(key: string): void {
    const { leases, waitersPerProcess } = this.settings.limits;
    if (this.#held.size >= leases) throw new LockLimitError(key, 'leases', leases);
    if (this.#waiters.size >= waitersPerProcess) {
      throw new LockLimitError(key, 'waitersPerProcess', waitersPerProcess);
    }
  }

  #room(key: string): WaitingRoom {
    let room = this.#rooms.get(key);
    if (!room) {
      room = new WaitingRoom(this.clock, () => this.#rooms.delete(key));
      this.#rooms.set(key, room);
    }
    return room;
  }

  #depart(claim: Claim, trail: Trail): void {
    this.#departures.start(() => this.store.lock.leave(claim), trail, claim.ttl);
  }

  #reentered(holding: Holding, leaveTurn: () => void): Lease {
    const lease = new Lease(this.#leaseHost, holding, leaveTurn);
    if (holding.held) return lease;
    void lease.release();
    throw holding.lossError();
  }

  async #extend(holding: Holding, ttl: Duration | undefined): Promise<void> {
    const ms =
      ttl === undefined
        ? holding.claim.ttl
        : milliseconds('ttl', ttl, { min: 50, max: 86_400_000 });
    const answer = await this.store.lock.extend([{ ...holding.claim, ttl: ms }]);
    const [remaining] = answer.remaining;
    if (holding.state !== 'held') throw holding.lossError();
    if (typeof remaining === 'number') {
      holding.confirm({ sentAt: answer.sentAt, remaining });
      this.#watchdog.watch(holding);
    } else {
      this.#lose(holding, remaining === 'taken' ? 'taken' : 'expired');
      throw holding.lossError();
    }
  }

  #lose(holding: Holding, reason: LossReason): void {
    this.#forget(holding);
    holding.lose(reason);
    this.#depart(holding.claim, holding.trail); // a renewal under way could still lengthen it
  }

  #forget(holding: Holding): void {
    this.#watchdog.forget(holding);
    this.#held.delete(holding.claim.holder);
  }

  async #release(holding: Holding): Promise<boolean> {
    if (holding.state !== 'held') return false;
    const inTime = holding.held;
    holding.state = 'closing';
    this.#forget(holding);
    const { claim, trail, since, settings } = holding;
    const release = (): Promise<boolean> => {
      const keep = since + settings.minHold - this.clock.monotonic();
      return this.store.lock.release(claim, Math.max(0, keep));
    };
    try {
      const ours = await release();
      if (trail.uncertainUntil > this.clock.monotonic()) this.#depart(claim, trail);
      return ours && inTime;
    } catch {
      const leave = (): Promise<unknown> => release().then(() => this.store.lock.leave(claim));
      this.#departures.start(leave, trail, claim.ttl);
      return inTime;
    } finally {
      holding.state = 'released';
    }
  }

  #giveBack(holding: Holding): Promise<boolean> {
    const released = this.#release(holding);
    holding.lose('shutdown');
    return released;
  }
}

/** A stream would go on after the lock is released. */
function settled<T>(result: T, key: string): T {
  if (
    typeof result === 'object' &&
    result !== null &&
    (Symbol.asyncIterator in result || 'subscribe' in result)
  ) {
    throw new LockOptionsError(
      `The body under lock "${key}" returned a stream, which would run unlocked: consume it inside, or use @Locked.`,
    );
  }
  return result;
}

/** `work`, unless `signal` aborts first. */
function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
