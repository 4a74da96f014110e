import type { Clock } from '../options/index.js';

/** How far apart two wake-ups may be and still share a timer, in ms. */
const GRAIN = 5;

/** Many wake-ups on one timer. An item stands in it once; nothing wakes before its time. */
export class Schedule<Item extends object> {
  readonly #buckets = new Map<number, Set<Item>>();
  readonly #bucketOf = new Map<Item, number>();
  /** The buckets' numbers, ascending. */
  readonly #order: number[] = [];
  #cancelTimer: (() => void) | undefined;
  #timerFor = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly wake: (due: Item[]) => void,
  ) {}

  /** Wakes `item` at `time` (monotonic ms) instead of any earlier arrangement. */
  set(item: Item, time: number): void {
    const number = Math.ceil(time / GRAIN);
    const before = this.#bucketOf.get(item);
    if (before === number) return;
    if (before !== undefined) this.#buckets.get(before)?.delete(item);
    this.#bucketOf.set(item, number);
    this.#bucket(number).add(item);
    if (number < this.#timerFor) this.#arm(number);
  }

  delete(item: Item): void {
    const number = this.#bucketOf.get(item);
    if (number === undefined) return;
    this.#bucketOf.delete(item);
    this.#buckets.get(number)?.delete(item);
    if (this.#bucketOf.size === 0) this.#clear();
  }

  get size(): number {
    return this.#bucketOf.size;
  }

  #bucket(number: number): Set<Item> {
    let bucket = this.#buckets.get(number);
    if (!bucket) {
      this.#buckets.set(number, (bucket = new Set()));
      let at = this.#order.length;
      while (at > 0 && this.#order[at - 1]! > number) at -= 1;
      this.#order.splice(at, 0, number);
    }
    return bucket;
  }

  #arm(number: number): void {
    this.#cancelTimer?.();
    this.#timerFor = number;
    const ms = Math.max(0, number * GRAIN - this.clock.monotonic());
    this.#cancelTimer = this.clock.after(ms, () => this.#ring());
  }

  #ring(): void {
    this.#cancelTimer = undefined;
    this.#timerFor = Infinity;
    const now = this.clock.monotonic();
    const due: Item[] = [];
    while (this.#order.length > 0 && this.#order[0]! * GRAIN <= now) {
      const number = this.#order.shift()!;
      for (const item of this.#buckets.get(number)!) {
        this.#bucketOf.delete(item);
        due.push(item);
      }
      this.#buckets.delete(number);
    }
    if (due.length > 0) this.wake(due);
    const next = this.#order[0];
    if (next !== undefined && next < this.#timerFor) this.#arm(next);
  }

  #clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerFor = Infinity;
    this.#buckets.clear();
    this.#order.length = 0;
  }
}
