import type { Run } from '../locks/grant.js';
import type { Clock } from '../options/index.js';
import { ASK_LONGEST, ASK_PAUSE, ASK_SHORTEST, FIRST_LEASE } from '../protocol/constants.js';
import type { Place } from './place.js';

/** The pause after an ask that failed, in ms. */
const AFTER_FAILURE = 100;

/**
 * All places of this process in the queue of one key, in their order. One of them asks for all, the
 * first: it keeps the process seen, finds a grant whose push got lost, and takes over from a crashed holder.
 */
export class WaitingRoom {
  readonly #places: Place[] = [];
  #cancelPoll: (() => void) | undefined;
  /** -Infinity while there is no poll to come. */
  #pollsAt = -Infinity;
  /** When the lock is said to come free, if that was said while an ask was under way; else Infinity. */
  #freeAt = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly emptied: () => void,
  ) {}

  /** The first of them, where all of the run are known here and none stands before them. */
  firstOf({ places, last }: Run): Place | undefined {
    return this.#places[places - 1]?.arrival === last ? this.#places[0] : undefined;
  }

  /** A place is in the queue, for the first time or still. */
  seat(place: Place, remaining: number): void {
    if (!place.seated) {
      let at = this.#places.length;
      while (at > 0 && Number(this.#places[at - 1]!.arrival) > Number(place.arrival)) at -= 1;
      this.#places.splice(at, 0, place);
      place.seated = true;
    }
    if (place === this.#places[0]) this.#pollIn(this.#round(place, remaining));
  }

  /** A place stands elsewhere in the queue now: it was signalled. */
  move(place: Place): void {
    this.#places.splice(this.#places.indexOf(place), 1);
    place.seated = false;
  }

  /** Nobody stands at the place any more: he was granted the lock, or gave up. */
  remove(place: Place, granted: boolean): void {
    if (!place.seated) return;
    const first = place === this.#places[0];
    place.seated = false;
    if (first) this.#places.shift();
    else this.#places.splice(this.#places.indexOf(place), 1);
    if (this.#places.length === 0) {
      this.#cancelPoll?.();
      this.#cancelPoll = undefined;
      this.#pollsAt = -Infinity;
      this.emptied();
    } else if (first && !this.#cancelPoll) {
      const { dialect, share } = place.request;
      if (granted && dialect && share)
        this.askAll(); // readers fit together, and nobody pushes that to them
      else this.#pollIn(this.#round(this.#places[0]!, -1)); // he was asking for those behind him
    }
  }

  /** An ask failed: the first place tries again soon. */
  failed(): void {
    this.#pollIn(AFTER_FAILURE * (1 + Math.random()));
  }

  /** The lock is said to come free then: the first place asks no later than it would have. */
  comesFreeIn(ms: number): void {
    const pause = Math.max(ASK_PAUSE, ms + 1);
    const at = this.clock.monotonic() + pause;
    if (!this.#cancelPoll) this.#freeAt = Math.min(this.#freeAt, at);
    else if (at < this.#pollsAt) this.#pollIn(pause);
  }

  askAll(): void {
    for (const place of this.#places) place.ask();
  }

  #pollIn(ms: number): void {
    this.#cancelPoll?.();
    const now = this.clock.monotonic();
    const pause = Math.max(0, Math.min(ms, this.#freeAt - now));
    this.#freeAt = Infinity;
    this.#pollsAt = now + pause;
    this.#cancelPoll = this.clock.after(pause, () => {
      this.#cancelPoll = undefined;
      this.#pollsAt = -Infinity;
      this.#places[0]?.ask();
    });
  }

  #round({ rank, request }: Place, remaining: number): number {
    const round = ASK_SHORTEST + Math.random() * (ASK_LONGEST - ASK_SHORTEST);
    const lost = Math.min(request.ttl, FIRST_LEASE) / 3;
    const next = rank <= 1 && remaining >= 0 ? remaining + 1 : Infinity;
    return Math.max(ASK_PAUSE, Math.min(round, lost, next));
  }
}
