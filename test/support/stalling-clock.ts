import type { Clock } from '../../lib/options/index.js';

/** The clock of a process that can be stopped for a while: time passes, but no timer of it runs. */
export class StallingClock implements Clock {
  #lost = 0;
  #slept = 0;

  constructor(private readonly base: Clock) {}

  monotonic(): number {
    return this.base.monotonic() + this.#lost;
  }

  wall(): number {
    return this.base.wall() + this.#lost + this.#slept;
  }

  after(ms: number, task: () => void): () => void {
    return this.base.after(ms, task);
  }

  /** `ms` are over at once, as after a long garbage collection or a SIGSTOP. */
  stall(ms: number): void {
    this.#lost += ms;
  }

  /** The machine slept `ms`, or somebody set its clock: the monotonic clock has not seen them. */
  sleep(ms: number): void {
    this.#slept += ms;
  }
}
