import { LockLimitError } from '../errors/index.js';
import { newHolderId } from '../locks/holder.js';
import type { Claim, LockStore } from '../locks/lock-primitive.js';
import type { CallSettings, Clock, ModuleSettings } from '../options/index.js';
import type { Departures } from './departures.js';
import type { Holding } from './holding.js';
import { Waiter } from './waiter.js';
import type { Grant, WaiterHost } from './waiter-host.js';
import { WaitingRoom } from './waiting-room.js';

/** All callers of this process that wait for a lock, by holder id and by key. */
export class Waiters {
  readonly #waiters = new Map<string, Waiter>();
  readonly #rooms = new Map<string, WaitingRoom>();
  readonly #host: WaiterHost;

  constructor(
    store: LockStore,
    private readonly settings: ModuleSettings,
    private readonly clock: Clock,
    departures: Departures,
    enter: (holding: Holding) => void,
  ) {
    const { lock, processId } = store;
    this.#host = {
      lock,
      clock,
      settings,
      enter,
      pushMissed: () => store.pushMissed(),
      newHolderId: () => newHolderId(processId),
      room: (key) => this.#room(key),
      expect: (waiter) => this.#waiters.set(waiter.claim.holder, waiter),
      forget: (waiter) => {
        this.#waiters.delete(waiter.claim.holder);
        this.#rooms.get(waiter.claim.key)?.remove(waiter);
      },
      depart: ({ claim, trail }) => departures.leave(claim, trail),
    };
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Resolves when the lock is held. */
  wait(key: string, call: CallSettings, signal: AbortSignal | undefined): Promise<Holding> {
    const { waitersPerProcess } = this.settings.limits;
    if (this.#waiters.size >= waitersPerProcess) {
      throw new LockLimitError(key, 'waitersPerProcess', waitersPerProcess);
    }
    return new Waiter(this.#host, key, call, signal).holding;
  }

  /** A push for one of them; false if nobody here waits under that id. */
  granted({ holder }: Claim, grant: Grant): boolean {
    const waiter = this.#waiters.get(holder);
    waiter?.granted(grant);
    return waiter !== undefined;
  }

  /** Pushes may have been missed: everybody asks. */
  askAll(): void {
    for (const room of this.#rooms.values()) room.askAll();
  }

  /** Nobody waits any more; each is told why. */
  turnAway(reason: (key: string) => Error): void {
    for (const waiter of this.#waiters.values()) waiter.giveUp(reason(waiter.claim.key));
  }

  #room(key: string): WaitingRoom {
    let room = this.#rooms.get(key);
    if (!room) {
      room = new WaitingRoom(this.clock, () => this.#rooms.delete(key));
      this.#rooms.set(key, room);
    }
    return room;
  }
}
