import { type Clock, systemClock } from '../../lib/options/index.js';

/** The system's clock, on which no pause ends that is longer than so many ms. */
export class EndlessPauses implements Clock {
  readonly monotonic = (): number => systemClock.monotonic();
  readonly wall = (): number => systemClock.wall();
  /** How many pauses of who asks again and again have begun that never end. */
  asleep = 0;

  constructor(private readonly longest: number) {}

  after(ms: number, task: () => void): () => void {
    if (ms <= this.longest) return systemClock.after(ms, task);
    if (ms < 200) this.asleep += 1;
    return () => {};
  }
}

/** Who is told when a lock is free never asks without a message. */
export const patientClock = new EndlessPauses(300);
