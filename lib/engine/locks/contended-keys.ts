import type { Clock } from '../options/index.js';

/** How long a key counts as contended, in ms. */
const LATELY = 1_000;
/** The most keys that are remembered. */
const REMEMBERED = 1_000;

/** The keys at which this process recently met other callers. Membership is only a hint. */
export class ContendedKeys {
  #metAt = new Map<string, number>();

  /** Records that another caller held the lock or waited for it at `now` (monotonic ms). */
  add(key: string, now: number): void {
    if (this.#metAt.size >= REMEMBERED) this.#metAt = new Map();
    this.#metAt.set(key, now);
  }

  has(key: string, clock: Clock): boolean {
    const at = this.#metAt.get(key);
    if (at === undefined) return false;
    if (clock.monotonic() - at < LATELY) return true;
    this.#metAt.delete(key);
    return false;
  }
}
