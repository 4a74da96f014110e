import { setImmediate } from 'node:timers';
import type { Clock } from '../../engine/options/index.js';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/**
 * A clock that stands still until a test moves it. Timers run in the order in which they are due,
 * those due at once in the order in which they were set, and promises settle in between.
 */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  /** `epoch`: what the wall clock shows at the start, in ms. */
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

  /** Lets `ms` milliseconds pass, from 0 up. Resolves when all timers that were due have run and what they began has settled. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#next(end); next; next = this.#next(end)) await this.#run(next);
    this.#now = Math.max(this.#now, end);
  }

  /** Lets as much time pass as the next timer needs, and runs that one. Without any it resolves when what runs has settled. */
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

/** Every promise that needs nothing but others to settle has done so. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
