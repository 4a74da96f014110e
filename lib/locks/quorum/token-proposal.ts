import type { Clock } from '../../options/index.js';

/** How far the two clocks may part before they are put together again, in ms. */
const STEP = 2;

/** The wall clock in µs, as finely as the monotonic clock counts: what a holder proposes as its fencing token. */
export class TokenProposal {
  #offset: number;

  constructor(private readonly clock: Clock) {
    this.#offset = clock.wall() - clock.monotonic();
  }

  now(): number {
    const offset = this.clock.wall() - this.clock.monotonic();
    if (Math.abs(offset - this.#offset) > STEP) this.#offset = offset;
    return Math.round((this.clock.monotonic() + this.#offset) * 1_000);
  }
}
