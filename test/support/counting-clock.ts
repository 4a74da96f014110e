import { type Clock, systemClock } from '../../lib/engine/options/index.js';

/** The system's clock, which knows how many timers run. */
export class CountingClock implements Clock {
  running = 0;

  monotonic(): number {
    return systemClock.monotonic();
  }

  wall(): number {
    return systemClock.wall();
  }

  after(ms: number, task: () => void): () => void {
    let over = false;
    const end = (): void => {
      if (!over) this.running -= 1;
      over = true;
    };
    this.running += 1;
    const cancel = systemClock.after(ms, () => {
      end();
      task();
    });
    return () => {
      end();
      cancel();
    };
  }
}
