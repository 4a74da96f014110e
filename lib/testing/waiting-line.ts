import {
  AWAITING,
  DEAD_AWAITING,
  EFFORT,
  FIRST_LEASE,
  GRANT_EFFORT,
  LONGEST_BATCH,
  LOOK_EFFORT,
  QUEUE_LIFE,
  SEVERAL_EFFORT,
  SILENCE,
} from '../protocol/constants.js';
import { MemoryHolders } from './memory-holders.js';
import type { MemoryServer, Place } from './memory-server.js';
import { fencingTokens } from './mint-fencing-tokens.js';

/** The queue of one lock: who waits, since when, and who is next. */
export class WaitingLine {
  readonly #holders: MemoryHolders;

  constructor(
    private readonly server: MemoryServer,
    private readonly name: string,
  ) {
    this.#holders = new MemoryHolders(server, name);
  }

  get places(): readonly Place[] {
    return this.server.queues.get(this.name) ?? [];
  }

  /** Those who await a condition: no grant comes to them. */
  get awaiting(): readonly Place[] {
    return this.server.awaiting.get(this.name) ?? [];
  }

  find(text: string): Place | undefined {
    return this.places.find((place) => place.text === text);
  }

  /** At `arrival` if it had one, else behind the last; a clock that steps back lets nobody pass. */
  join(place: Omit<Place, 'arrival'>, arrival: number | undefined): Place {
    const tail = this.places.at(-1)?.arrival ?? 0;
    const joined = { ...place, arrival: arrival ?? Math.max(this.server.now(), tail + 1) };
    this.#put([...this.places, joined].sort((a, b) => a.arrival - b.arrival));
    return joined;
  }

  leave(text: string): void {
    this.#put(this.places.filter((place) => place.text !== text));
  }

  /** The process has just asked. */
  saw(process: string): void {
    const { seen, clock, queues } = this.server;
    const asks = seen.get(this.name) ?? new Map<string, number>();
    const now = clock.wall();
    asks.set(process, now);
    for (const [asker, at] of asks) {
      if (now - at >= QUEUE_LIFE) asks.delete(asker);
      else if (at > now) asks.set(asker, now); // seen before somebody set the clock back
    }
    seen.set(this.name, asks, QUEUE_LIFE);
    queues.expire(this.name, QUEUE_LIFE);
    this.server.awaiting.expire(this.name, QUEUE_LIFE);
  }

  /** Behind all who await already. */
  await(place: Omit<Place, 'arrival'>): Place {
    const last = this.awaiting.at(-1)?.arrival ?? 0;
    const joined = { ...place, arrival: Math.max(AWAITING + this.server.now(), last + 1) };
    this.server.awaiting.set(this.name, [...this.awaiting, joined], QUEUE_LIFE);
    return joined;
  }

  /** False if it did not await. */
  stopAwaiting(text: string): boolean {
    const left = this.awaiting.filter((place) => place.text !== text);
    if (left.length === this.awaiting.length) return false;
    if (left.length === 0) this.server.awaiting.delete(this.name);
    else this.server.awaiting.set(this.name, left, QUEUE_LIFE);
    return true;
  }

  /** Nobody may ever signal them. */
  forgetDeadAwaiting(): void {
    for (const place of this.awaiting.slice(0, DEAD_AWAITING)) {
      if (!this.#isAlive(place.process)) this.stopAwaiting(place.text);
    }
  }

  /** The first living one who awaits the condition queues as one who was signalled. False if there is none. */
  signalNext(condition: string): boolean {
    for (const place of this.awaiting.filter((each) => each.condition === condition)) {
      this.stopAwaiting(place.text);
      if (!this.#isAlive(place.process)) continue;
      this.join({ ...place, text: signalledText(place.text) }, undefined);
      return true;
    }
    return false;
  }

  /**
   * Lets places in, in their order, as long as the next of them fits to who holds the lock, and tells
   * their processes; the asker needs no telling. A place whose process does not listen is passed over
   * and kept; `home` reads the reply, and hears in any case. True if the asker was let in.
   */
  grantNext(asker?: string, home?: string): boolean {
    const unheard = new Set<string>();
    let asked = false;
    let moved = false;
    let effort = EFFORT;
    for (const place of this.#inTurn()) {
      const asks = place.text === asker;
      if (this.#holders.current !== undefined && !this.#holders.mode) return asked;
      if (effort <= 0) {
        const next = this.#isAlive(place.process) ? place : (this.find(asker ?? '') ?? place);
        if (moved) this.server.inbox(next.process)?.kept(this.name, 0);
        return asked;
      }
      effort -= LOOK_EFFORT;
      if (!asks && !this.#isAlive(place.process)) {
        moved = true;
        this.leave(place.text);
        if (place.condition !== undefined) this.signalNext(place.condition); // a signal does not die with who got it
        continue;
      }
      if (!asks && unheard.has(place.process)) continue;
      if (!this.#holders.fits(place.share)) return asked;
      if (asks) {
        this.#grant(place, place.ttl);
        asked = true;
      } else {
        effort -= GRANT_EFFORT + ((place.share?.count ?? 1) > 1 ? SEVERAL_EFFORT : 0);
        if (this.#push(place, home)) moved = true;
        else unheard.add(place.process);
      }
    }
    return asked;
  }

  /** False if its process does not listen: only tokens are lost then. */
  #push(place: Place, home: string | undefined): boolean {
    const behind = this.#runBehind(place);
    const tokens = fencingTokens(this.server, this.name, {
      ...place,
      tokenBlock: place.tokens + (place.tokens > 0 ? behind.length : 0),
    });
    const last = behind.at(-1)?.arrival.toString();
    const batch = last === undefined ? undefined : { entries: behind.length, last };
    const inbox = this.server.inbox(place.process);
    if (!inbox && place.process !== home) return false;
    const remaining = Math.min(place.ttl, FIRST_LEASE);
    this.#grant(place, remaining);
    inbox?.granted({ name: this.name, place: place.text, remaining, ...tokens, batch });
    return true;
  }

  /** The places directly behind, all of its process, ttl and kind, as in run-behind.lua. */
  #runBehind(place: Place): readonly Place[] {
    const ending = /\/\d+\/x[01]$/.exec(place.text)?.[0];
    if (!ending) return [];
    const at = this.places.indexOf(place) + 1;
    const behind = this.places.slice(at, at + LONGEST_BATCH);
    const end = behind.findIndex(
      ({ text, process }) => process !== place.process || !text.endsWith(ending),
    );
    return end < 0 ? behind : behind.slice(0, end);
  }

  /** A place that was signalled on the way comes in its turn too. */
  *#inTurn(): Generator<Place> {
    const met = new Set<string>();
    for (;;) {
      const place = this.places.find(({ text }) => !met.has(text));
      if (!place) return;
      met.add(place.text);
      yield place;
    }
  }

  #grant(place: Place, lease: number): void {
    this.leave(place.text);
    this.#holders.hold(place.holder, place.share, lease);
  }

  #isAlive(process: string): boolean {
    const at = this.server.seen.get(this.name)?.get(process);
    return at !== undefined && this.server.clock.wall() - at <= SILENCE;
  }

  #put(places: Place[]): void {
    const left = this.server.queues.ttl(this.name);
    if (places.length === 0) this.server.queues.delete(this.name);
    else this.server.queues.set(this.name, places, left > 0 ? left : QUEUE_LIFE);
  }
}

/** A place that awaited, as it stands in the queue. */
function signalledText(text: string): string {
  return text.replace(/\/w(\d+\/[^/]+)$/, '/c$1');
}
