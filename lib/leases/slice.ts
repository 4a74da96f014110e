/** How long one process may pass a lock on among its own callers, in ms, and how often. */
export const SLICE = { ms: 10, passes: 250 };

/** The turn of one process: from the store's grant on, as long as it may pass the lock on in memory. */
export class Slice {
  /** How far the turn reaches among the process's own places: the arrival of the last; undefined: to none. */
  last: number | undefined;
  #end = 0;
  #passes = 0;
  #tokensLeft = 0;

  /** `tokens`: how many the grant reserved; the first is the first holder's. */
  begin(now: number, tokens: number, last?: string): void {
    this.last = last === undefined ? undefined : Number(last);
    this.#end = now + SLICE.ms;
    this.#passes = 0;
    this.#tokensLeft = tokens - 1;
  }

  /** One more pass; false if the turn is over, or no token is left for it. */
  take(now: number, fenced: boolean): boolean {
    if (now >= this.#end || this.#passes >= SLICE.passes) return false;
    if (fenced && this.#tokensLeft <= 0) return false;
    this.#passes += 1;
    this.#tokensLeft -= 1;
    return true;
  }

  /** When a holder has stayed so long that those behind him want a place in the store's queue. */
  get overstayedAt(): number {
    return this.#end + SLICE.ms;
  }
}
