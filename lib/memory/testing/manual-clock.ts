import { setImmediate } from 'node:timers';
import type { Clock } from '../../engine/options/index.js';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/**
 * A clock that stands still until a test moves it. Timers run in the order of their due times, then in the order in which they
 * were set; promises settle in between.
 * @example `const clock = new ManualClock(); const lease = await locks.acquire('a'); await clock.advance(30_000);`
 */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  /** @param epoch The wall clock at the start, in ms since the epoch. Default: 2025-01-01. */
  constructor(private readonly epoch = Date.UTC(2025, 0, 1)) {}

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return this.epoch + this.#now;
  }

  after(ms: number, task: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), task };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets `ms` milliseconds pass, from 0 up. Resolves when all due timers have run, and the promises that they began have settled. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#next(end); next; next = this.#next(end)) await this.#run(next);
    this.#now = Math.max(this.#now, end);
  }

  /** Moves the clock to the next timer and runs it. Without a timer, resolves when pending promises have settled. */
  async advanceToNext(): Promise<void> {
    await settled();
    const next = this.#next(Infinity);
    if (next) await this.#run(next);
  }

  /** The number of timers that are set and not yet due. */
  get pending(): number {
    return this.#timers.size;
  }

  async #run(timer: Timer): Promise<void> {
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.task();
    await settled();
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (!next || timer.at < next.at)) next = timer;
    }
    return next;
  }
}

/** Resolves when all promises that depend on promises alone have settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
