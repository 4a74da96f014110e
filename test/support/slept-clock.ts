import { openSync, readSync, writeFileSync } from 'node:fs';
import { type Clock, systemClock } from '../../lib/engine/options/index.js';

/**
 * The clock of a process whose machine sleeps while another process has stopped it: its monotonic clock has not seen that
 * time, its wall clock has. How long that was in all stands in a file, which is written while the process stands still.
 */
export class SleptClock implements Clock {
  readonly #file: number;
  readonly #slept = new Float64Array(1);

  constructor(file: string) {
    this.#file = openSync(file, 'r');
  }

  /** From now on its processes have slept `ms` in all. */
  static set(file: string, ms: number): void {
    writeFileSync(file, new Float64Array([ms]), { flag: 'w' });
  }

  monotonic(): number {
    readSync(this.#file, this.#slept, 0, 8, 0);
    return systemClock.monotonic() - this.#slept[0]!;
  }

  wall(): number {
    return systemClock.wall();
  }

  after(ms: number, task: () => void): () => void {
    return systemClock.after(ms, task);
  }
}
