import type { Clock } from '../options/index.js';
import type { Waiter } from './waiter.js';

/** How often a waiting process shows itself, in ms; the server forgets it after 3,000. */
const ROUND = { shortest: 700, longest: 1_000 };
/** The longest first lease of a pushed grant, in ms, as in grant-next.lua. */
export const FIRST_LEASE = 3_000;
/** The shortest pause between two asks, in ms. */
const SHORTEST_PAUSE = 5;
/** The pause after an ask that failed, in ms. */
const AFTER_FAILURE = 100;

/**
 * All callers of this process that wait for one key, in the order of their places. One of them asks
 * for all, the first: it keeps the process seen, finds a grant whose push got lost, and takes over
 * from a crashed holder.
 */
export class WaitingRoom {
  readonly #waiters: Waiter[] = [];
  #cancelPoll: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly emptied: () => void,
  ) {}

  /** A waiter was told its place, for the first time or again. */
  seat(waiter: Waiter, remaining: number): void {
    if (!waiter.seated) {
      let at = this.#waiters.length;
      while (at > 0 && Number(this.#waiters[at - 1]!.arrival) > Number(waiter.arrival)) at -= 1;
      this.#waiters.splice(at, 0, waiter);
      waiter.seated = true;
    }
    if (waiter === this.#waiters[0]) this.#pollIn(this.#round(waiter, remaining));
  }

  remove(waiter: Waiter): void {
    if (!waiter.seated) return;
    const first = waiter === this.#waiters[0];
    waiter.seated = false;
    if (first) this.#waiters.shift();
    else this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
    if (this.#waiters.length === 0) {
      this.#cancelPoll?.();
      this.#cancelPoll = undefined;
      this.emptied();
    } else if (first && !this.#cancelPoll) {
      this.#pollIn(this.#round(this.#waiters[0]!, -1)); // he was asking for those behind him
    }
  }

  /** An ask failed: the first waiter tries again soon. */
  failed(): void {
    this.#pollIn(AFTER_FAILURE * (1 + Math.random()));
  }

  askAll(): void {
    for (const waiter of this.#waiters) void waiter.ask();
  }

  #pollIn(ms: number): void {
    this.#cancelPoll?.();
    this.#cancelPoll = this.clock.after(ms, () => {
      this.#cancelPoll = undefined;
      void this.#waiters[0]?.ask();
    });
  }

  #round({ rank, claim }: Waiter, remaining: number): number {
    const round = ROUND.shortest + Math.random() * (ROUND.longest - ROUND.shortest);
    const lost = Math.min(claim.ttl, FIRST_LEASE) / 3;
    const next = rank <= 1 && remaining >= 0 ? remaining + 1 : Infinity;
    return Math.max(SHORTEST_PAUSE, Math.min(round, lost, next));
  }
}
