/** What is longer between two ticks is told, and counts as so much, in ms. */
const MOST = 100;
const TICK = 20;

/** Nothing ran in a process for so long, in ms, until a moment. */
export interface Pause {
  readonly at: number;
  readonly ms: number;
}

/**
 * The time that this process had: while it is stopped, stalls or gets no processor nothing passes. What a call takes is
 * measured by it, so that only the library and what it waits for can be late.
 */
export class Attention {
  #passed = 0;
  #last = performance.now();
  readonly #timer = setInterval(() => this.#tick(), TICK);

  /** `paused` is told how long nothing ran, in ms. */
  constructor(private readonly paused: (ms: number) => void = () => {}) {}

  get now(): number {
    this.#tick();
    return this.#passed;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    this.#passed += Math.min(now - this.#last, MOST);
    if (now - this.#last > MOST) this.paused(Math.round(now - this.#last));
    this.#last = now;
  }
}
