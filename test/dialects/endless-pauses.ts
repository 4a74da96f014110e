import { type Clock, systemClock } from '../../lib/engine/options/index.js';

/**
 * The system's clock, on which no pause ends that is longer than so many ms. While one who asks again and again makes such a
 * pause, time stands still: its end never passes, however busy the machine is.
 */
export class EndlessPauses implements Clock {
  readonly monotonic = (): number => (this.#still ?? systemClock).monotonic();
  readonly wall = (): number => (this.#still ?? systemClock).wall();
  /** How many pauses of who asks again and again have begun that never end. */
  asleep = 0;
  #still: Pick<Clock, 'monotonic' | 'wall'> | undefined;

  constructor(private readonly longest: number) {}

  after(ms: number, task: () => void): () => void {
    if (ms <= this.longest) return systemClock.after(ms, task);
    if (ms >= 200) return () => {}; // no pause between two asks
    this.asleep += 1;
    const [monotonic, wall] = [this.monotonic(), this.wall()];
    const still = (this.#still = { monotonic: () => monotonic, wall: () => wall });
    return () => {
      if (this.#still === still) this.#still = undefined;
    };
  }
}

/** Who is told when a lock is free never asks without a message. */
export const patientClock = new EndlessPauses(300);
