import * as hooks from 'node:perf_hooks';
import { detached } from '../options/index.js';

/** How often the event loop is looked at, in ms, once somebody wants to know. */
const RESOLUTION = 20;

/** How late the event loop of this process is. Node measures it, from the first question on. */
export class EventLoopWatch {
  #delays: hooks.IntervalHistogram | undefined;
  #isTried = false;

  /** At worst since the last question, in ms; undefined at the first one, and where the runtime does not measure it. */
  lateness(): number | undefined {
    if (!this.#isTried) {
      this.#isTried = true;
      this.#delays = detached(started);
      return undefined;
    }
    if (!this.#delays) return undefined;
    const { max } = this.#delays;
    this.#delays.reset();
    return Math.max(0, Math.round(max / 1e6) - RESOLUTION);
  }

  /** It measures no more, also for a check that ends only now. */
  close(): void {
    this.#isTried = true;
    this.#delays?.disable();
    this.#delays = undefined;
  }
}

function started(): hooks.IntervalHistogram | undefined {
  if (process.versions['deno']) return undefined; // it measures, and does not see that the loop was blocked
  try {
    const delays = hooks.monitorEventLoopDelay({ resolution: RESOLUTION });
    delays.enable();
    return delays;
  } catch {
    return undefined; // not every runtime has it
  }
}
