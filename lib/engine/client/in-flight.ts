import type { Clock } from '../options/index.js';

/**
 * What was sent under one holder id and has no answer yet. While there is anything, no other caller of this process
 * gets the lease in memory. An ask without an answer may still run until its time-out: a caller that gives the id up
 * gives it up once more after that.
 */
export class InFlight {
  /** The last renewal. */
  renewal: { readonly underWay: boolean } | undefined;
  #steps = 0;
  #asks = 0;
  #latest = -Infinity;
  #uncertainUntil = -Infinity;

  constructor(private readonly timeout: number) {}

  /** Whether anything is under way. */
  get any(): boolean {
    return this.renews || this.#steps > 0 || this.#asks > 0;
  }

  /** Whether a renewal is under way. */
  get renews(): boolean {
    return this.renewal !== undefined && this.renewal.underWay;
  }

  /** A step that changes the lease, and nothing once the lease is given back. */
  async during<Answer>(step: () => Promise<Answer>): Promise<Answer> {
    this.#steps += 1;
    try {
      return await step();
    } finally {
      this.#steps -= 1;
    }
  }

  /** An ask was sent. */
  sent(at: number): void {
    this.#asks += 1;
    this.#latest = at;
  }

  answered(): void {
    this.#asks -= 1;
  }

  /** The ask sent at `at` will never be answered, and may have run. */
  unknown(at: number): void {
    this.#asks -= 1;
    this.#uncertainUntil = Math.max(this.#uncertainUntil, at + this.timeout);
  }

  /** Whether an ask may still take effect. */
  isUncertain(clock: Clock): boolean {
    const { uncertainUntil } = this;
    return uncertainUntil > -Infinity && uncertainUntil > clock.monotonic();
  }

  /** The last moment at which an ask may still take effect; -Infinity if none can. */
  get uncertainUntil(): number {
    return this.#asks > 0
      ? Math.max(this.#uncertainUntil, this.#latest + this.timeout)
      : this.#uncertainUntil;
  }
}
