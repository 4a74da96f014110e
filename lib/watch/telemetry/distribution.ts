/** A histogram: the number of durations between bounds, and their sum, in seconds. */
export class Distribution {
  /** Counts by upper bound; the last one is of durations above all bounds. */
  #counts: number[] = [];
  #sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.reset();
  }

  get sum(): number {
    return this.#sum;
  }

  /** Cumulative counts: for each bound, the durations not above it; the last count has no bound. */
  get cumulative(): number[] {
    let all = 0;
    return this.#counts.map((count) => (all += count));
  }

  add(seconds: number): void {
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && seconds > bounds[at]!) at += 1;
    this.#counts[at]! += 1;
    this.#sum += seconds;
  }

  reset(): void {
    this.#counts = Array<number>(this.bounds.length + 1).fill(0);
    this.#sum = 0;
  }
}
