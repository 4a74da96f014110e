import type { Clock } from '../options/index.js';

/**
 * What one holder id has sent and not heard back. An ask without an answer may still run until its
 * time-out, so whoever gives the id up must do so again after that.
 */
export class Trail {
  #unanswered = 0;
  #latest = -Infinity;
  #uncertainUntil = -Infinity;

  constructor(private readonly timeout: number) {}

  sent(at: number): void {
    this.#unanswered += 1;
    this.#latest = at;
  }

  answered(): void {
    this.#unanswered -= 1;
  }

  /** The ask sent at `at` will never be answered, and may have run. */
  unknown(at: number): void {
    this.#unanswered -= 1;
    this.#uncertainUntil = Math.max(this.#uncertainUntil, at + this.timeout);
  }

  /** Whether something sent under this id may still take effect. */
  isUncertain(clock: Clock): boolean {
    const { uncertainUntil } = this;
    return uncertainUntil > -Infinity && uncertainUntil > clock.monotonic();
  }

  /** The last moment at which something sent under this id may still take effect; -Infinity if nothing can. */
  get uncertainUntil(): number {
    return this.#unanswered > 0
      ? Math.max(this.#uncertainUntil, this.#latest + this.timeout)
      : this.#uncertainUntil;
  }
}
