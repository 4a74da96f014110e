import type { Run } from '../locks/grant.js';
import type { Place } from './place.js';

/** How long one process may pass a lock on among its own callers, in ms, and how often. */
export const SLICE = { ms: 10, passes: 250 };

/** The turn of one process: from the store's grant on, as long as it may pass the lock on in memory. */
export class Slice {
  /** The process's own places that are still to come in this turn, if any. */
  run: Run | undefined;
  #end = 0;
  #passes = 0;
  #tokensLeft = 0;
  #passed: Place[] | undefined;

  /** `tokens`: how many the grant reserved; the first is the first holder's. */
  begin(now: number, tokens: number, run?: Run): void {
    this.run = run;
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

  /** The lock went to the first place of the run, as the store does not know yet. */
  reached(place: Place): void {
    const { places, last } = this.run!;
    this.run = places > 1 ? { places: places - 1, last } : undefined;
    (this.#passed ??= []).push(place);
  }

  /** Whether the lock went to places of which the store does not know yet. */
  get hasPassed(): boolean {
    return this.#passed !== undefined;
  }

  /** The places that the lock went to: the caller tells the store of them. */
  takePassed(): Place[] | undefined {
    const passed = this.#passed;
    this.#passed = undefined;
    return passed;
  }

  /** When a holder has stayed so long that those behind him want a place in the store's queue. */
  get overstayedAt(): number {
    return this.#end + SLICE.ms;
  }
}
