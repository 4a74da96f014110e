import { detached, inBackground } from '../options/index.js';

/** How often the event loop is checked, in ms, once somebody has asked. */
const RESOLUTION = 20;
/** How long an answer counts for later questions too, in ms: several callers may ask in turns. */
const MEMORY = 60_000;

/** Measures how late the event loop of this process is, from the first question on. */
export class EventLoopWatch {
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #seen = 0;
  #worst = 0;
  /** Earlier answers, each worse than those behind it. */
  #told: { readonly late: number; readonly until: number }[] = [];

  /** The worst delay since the last question, or of the last minute, in ms; undefined at the first question. */
  lateness(): number | undefined {
    if (this.#isClosed) return undefined;
    if (!this.#timer) {
      this.#seen = performance.now();
      this.#timer = detached(() => inBackground(setInterval(() => this.#look(), RESOLUTION)));
      return undefined;
    }
    this.#look();
    const [now, late] = [this.#seen, this.#worst];
    this.#worst = 0;
    this.#told = this.#told.filter((one) => one.until > now && one.late > late);
    this.#told.push({ late, until: now + MEMORY });
    return this.#told[0]!.late;
  }

  #look(): void {
    const now = performance.now();
    this.#worst = Math.max(this.#worst, Math.round(now - this.#seen) - RESOLUTION);
    this.#seen = now;
  }

  /** Ends the measuring, also for a check that ends only later. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }
}
