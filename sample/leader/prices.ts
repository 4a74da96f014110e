/** What the replicas pull: here it only counts who wrote how often, by fencing token. */
export class Prices {
  readonly writes = new Map<number, number>();

  write(fencingToken: number): void {
    this.writes.set(fencingToken, (this.writes.get(fencingToken) ?? 0) + 1);
  }

  /** Resolves when this many leaders have written. */
  async leaders(count: number): Promise<void> {
    while (this.writes.size < count) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
