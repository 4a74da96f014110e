import type { Clock } from '../../lib/engine/options/index.js';

/** The clock of a process that can be stopped for a while, or whose machine sleeps. */
export class StallingClock implements Clock {
  #lost = 0;
  #slept = 0;
  #asleepFrom: number | undefined;
  /** How long it was asleep in all, before now. */
  #missed = 0;
  #waking: (() => void)[] = [];
  /** Each timer that is set, by what brings it forward. */
  readonly #timers = new Set<(ms: number) => void>();

  constructor(private readonly base: Clock) {}

  monotonic(): number {
    return (this.#asleepFrom ?? this.base.monotonic()) - this.#missed + this.#lost;
  }

  wall(): number {
    return this.base.wall() + this.#lost + this.#slept;
  }

  after(ms: number, task: () => void): () => void {
    let cancel = (): void => {};
    let called = false;
    let due = 0;
    const wait = (rest: number): void => {
      const missed = this.#missed;
      due = this.base.monotonic() + rest;
      cancel = this.base.after(rest, () => {
        if (called) return;
        if (this.#asleepFrom !== undefined) this.#waking.push(() => wait(this.#missed - missed));
        else if (this.#missed > missed) wait(this.#missed - missed);
        else {
          this.#timers.delete(forward);
          task();
        }
      });
    };
    const forward = (by: number): void => {
      cancel();
      wait(Math.max(0, due - by - this.base.monotonic()));
    };
    wait(ms);
    this.#timers.add(forward);
    return () => {
      called = true;
      this.#timers.delete(forward);
      cancel();
    };
  }

  /** `ms` are over at once, and the timers that are due run: as if one had waited. */
  pass(ms: number): void {
    this.#lost += ms;
    for (const forward of this.#timers) forward(ms);
  }

  /** `ms` are over at once, as after a long garbage collection or a SIGSTOP: no timer has run. */
  stall(ms: number): void {
    this.#lost += ms;
  }

  /** The machine slept `ms`, or somebody set its clock: the monotonic clock has not seen them. */
  sleep(ms: number): void {
    this.#slept += ms;
  }

  /** Until it wakes the monotonic clock stands still, and no timer of it runs. */
  fallAsleep(): void {
    this.#asleepFrom ??= this.base.monotonic();
  }

  wake(): void {
    if (this.#asleepFrom === undefined) return;
    this.#missed += this.base.monotonic() - this.#asleepFrom;
    this.#asleepFrom = undefined;
    for (const go of this.#waking.splice(0)) go();
  }

  /** Resolves when the machine is awake: nothing is heard or told before. */
  async awake(): Promise<void> {
    while (this.#asleepFrom !== undefined) {
      await new Promise<void>((resolve) => this.#waking.push(resolve));
    }
  }
}
