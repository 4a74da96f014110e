import { openSync, readSync, writeFileSync } from 'node:fs';
import { type Clock, systemClock } from '../../lib/engine/options/index.js';

/**
 * The clock of a process whose machine sleeps while another process has stopped it: its monotonic clock has not seen that
 * time, its wall clock has. How long that was in all stands in a file, which is written while the process stands still. So
 * does by how much somebody has set the wall clock.
 */
export class SleptClock implements Clock {
  readonly #file: number;
  readonly #changes = new Float64Array(2);

  constructor(file: string) {
    this.#file = openSync(file, 'r');
  }

  /** From now on its process has slept so long in all, and its wall clock is so far ahead; in ms. */
  static set(file: string, slept: number, ahead: number): void {
    writeFileSync(file, new Float64Array([slept, ahead]), { flag: 'r+' });
  }

  /** To be called once for each process, before it starts. */
  static make(file: string): void {
    writeFileSync(file, new Float64Array(2));
  }

  monotonic(): number {
    return systemClock.monotonic() - this.#change(0);
  }

  wall(): number {
    return systemClock.wall() + this.#change(1);
  }

  #change(at: 0 | 1): number {
    readSync(this.#file, this.#changes, 0, 16, 0);
    return this.#changes[at]!;
  }

  after(ms: number, task: () => void): () => void {
    return systemClock.after(ms, task);
  }
}
