import { LockLimitError } from '../errors/index.js';
import { newHolderId } from '../locks/holder.js';
import { lockId } from '../locks/lock-id.js';
import type { Grant } from '../locks/grant.js';
import type { LockStore } from '../locks/lock-primitive.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { CallSettings, Clock, ModuleSettings } from '../options/index.js';
import type { Departures } from './departures.js';
import type { Holding } from './holding.js';
import type { BaseLease } from './base-lease.js';
import type { Line } from './line.js';
import type { LineHost } from './line-host.js';
import type { Place } from './place.js';
import { Schedule } from './schedule.js';
import { SharedLine } from './shared-line.js';
import { SingleLine } from './single-line.js';
import { SLICE } from './slice.js';
import { TurnoverMap } from './turnover-map.js';
import { Waiter } from './waiter.js';
import { WaitingRoom } from './waiting-room.js';

/** How many fencing tokens a grant to a shared line reserves: its own, and one for each time it is passed on. */
const BLOCK = 1 + SLICE.passes;

/** All callers of this process that wait for a lock: their lines, and the places of those in the store's queues. */
export class Waiters {
  /** The lines of one caller each. */
  readonly #single = new TurnoverMap<Line, Line>();
  /** The lines that anybody may join, by key; fenced and unfenced apart. */
  readonly #shared = { fenced: new TurnoverMap<Line>(), unfenced: new TurnoverMap<Line>() };
  readonly #places = new TurnoverMap<Place>();
  readonly #rooms = new TurnoverMap<WaitingRoom>();
  readonly #host: LineHost;
  #size = 0;

  constructor(
    store: LockStore,
    private readonly settings: ModuleSettings,
    private readonly clock: Clock,
    departures: Departures,
    enter: (holding: Holding) => BaseLease,
  ) {
    const { lock, processId } = store;
    this.#host = {
      lock,
      clock,
      settings,
      enter,
      bounds: new Schedule(clock, (due) => due.forEach((waiter) => waiter.expire())),
      slices: new Schedule(clock, (due) => due.forEach((line) => line.overstayed())),
      pushMissed: () => store.pushMissed(),
      newHolderId: (fenced) => newHolderId(processId, fenced),
      room: (lock) => this.#room(lockId(lock)),
      firstOfRun: (lock, run) => this.#rooms.get(lockId(lock))?.firstOf(run),
      expect: (place) => this.#places.set(place.request.holder, place),
      forget: (place, granted) => {
        this.#places.delete(place.request.holder);
        this.#rooms.get(lockId(place.request))?.remove(place, granted);
      },
      depart: ({ request, trail }) => departures.leave(request, trail),
      departPassed: (places) => {
        const [{ request, trail }, ...others] = places as readonly [Place, ...Place[]];
        const passed = others.map((place) => place.request);
        departures.leave(request, trail, passed);
      },
      gone: (waiter) => {
        this.#size -= 1;
        this.#host.bounds.delete(waiter);
      },
      retire: (line) => this.#retire(line),
    };
  }

  /** What a place of this process needs. */
  get host(): LineHost {
    return this.#host;
  }

  get size(): number {
    return this.#size;
  }

  /** Resolves when the lock is held. The call's `wait` counts from `startedAt`. */
  wait(
    key: string,
    call: CallSettings,
    signal: AbortSignal | undefined,
    startedAt = this.clock.monotonic(),
  ): Promise<BaseLease> {
    const { waitersPerProcess } = this.settings.limits;
    if (this.#size >= waitersPerProcess) {
      throw new LockLimitError(key, 'waitersPerProcess', waitersPerProcess);
    }
    const shared =
      this.settings.fairness === 'local' && call.wait > 0 && !call.share && !call.dialect;
    const line = shared ? this.#sharedLine(key, call) : this.#singleLine(key, call);
    const waiter = new Waiter(call, startedAt, line, signal);
    this.#size += 1;
    line.join(waiter);
    return waiter.lease;
  }

  /** A push for one of the places; false if there is none under that id. */
  granted({ holder }: LockRequest, grant: Grant | undefined): boolean {
    const place = this.#places.get(holder);
    place?.granted(grant);
    return place !== undefined;
  }

  /** A push says when the lock comes free. */
  kept(id: string, rest: number): void {
    this.#rooms.get(id)?.comesFreeIn(rest);
  }

  /** Pushes may have been missed: every place asks. */
  askAll(): void {
    for (const room of this.#rooms.values()) room.askAll();
  }

  /** Nobody waits any more; each is told why. */
  turnAway(reason: (key: string) => Error): void {
    const { fenced, unfenced } = this.#shared;
    for (const line of [...this.#single.values(), ...fenced.values(), ...unfenced.values()]) {
      line.turnAway(reason);
    }
    this.#host.bounds.stop();
    this.#host.slices.stop();
  }

  #sharedLine(key: string, { fencing }: CallSettings): Line {
    const lines = fencing ? this.#shared.fenced : this.#shared.unfenced;
    let line = lines.get(key);
    if (!line) {
      line = new SharedLine(this.#host, key, fencing ? BLOCK : 0);
      lines.set(key, line);
    }
    return line;
  }

  #singleLine(key: string, { fencing, dialect }: CallSettings): Line {
    const fenced = fencing && (dialect?.fencing ?? true);
    const line = new SingleLine(this.#host, key, fenced ? 1 : 0);
    this.#single.set(line, line);
    return line;
  }

  #retire(line: Line): void {
    const lines = line.fenced ? this.#shared.fenced : this.#shared.unfenced;
    if (lines.get(line.key) === line) lines.delete(line.key);
    else this.#single.delete(line);
  }

  /** Of one lock, by its id. */
  #room(id: string): WaitingRoom {
    let room = this.#rooms.get(id);
    if (!room) {
      room = new WaitingRoom(this.clock, () => this.#rooms.delete(id));
      this.#rooms.set(id, room);
    }
    return room;
  }
}
