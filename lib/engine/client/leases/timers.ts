import { type Clock, onAbort } from '../../options/index.js';

/** The pause after the first failure and the longest pause, in ms. */
const PAUSE = { first: 100, longest: 1_000 };

/**
 * Exponential back-off with jitter, in ms: doubled by each failure up to the longest, then multiplied by 1 to 2. The jitter
 * keeps the processes that an outage stopped from coming back at once.
 */
export function pauseAfter(failures: number): number {
  return Math.min(PAUSE.longest, PAUSE.first * 2 ** failures) * (1 + Math.random());
}

/** How far apart two wake-ups may be and still share a timer, in ms. */
const GRAIN = 5;

/** So many times may stay without an item, beside one for each item: the next item often wakes at one of them. */
const SPARE = 8;

/** The items that wake at one time. */
export interface Due {
  readonly number: number;
  /** The items, in no order: the last one takes the place of a removed one. */
  readonly items: Scheduled[];
}

/** Something that a schedule can wake. It carries its place there, so that nothing is looked up. */
export interface Scheduled {
  due: Due | undefined;
  /** The item's index in `due.items`. */
  nth: number;
}

/** Many wake-ups on one timer. An item is in a schedule at most once, and never wakes before its time. */
export class Schedule<Item extends Scheduled> {
  /** The times with wake-ups, in ascending order. */
  #dues: Due[] = [];
  #size = 0;
  #cancelTimer: (() => void) | undefined;
  #timerFor = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly wake: (due: Item[]) => void,
  ) {}

  /** Wakes `item` at `time` (monotonic ms; `Infinity`: never) instead of any earlier arrangement. */
  set(item: Item, time: number): void {
    if (time === Infinity) return this.delete(item);
    const number = Math.ceil(time / GRAIN);
    if (item.due?.number === number) return;
    this.delete(item);
    const due = this.#due(number);
    item.due = due;
    item.nth = due.items.push(item) - 1;
    this.#size += 1;
    if (number < this.#timerFor) this.#arm(number);
  }

  delete(item: Scheduled): void {
    if (!item.due) return;
    const { items } = item.due;
    const last = items.pop()!;
    if (last !== item) items[(last.nth = item.nth)] = last;
    item.due = undefined;
    this.#size -= 1;
    if (this.#dues.length > 2 * this.#size + SPARE)
      this.#dues = this.#dues.filter((due) => due.items.length > 0);
  }

  get size(): number {
    return this.#size;
  }

  #due(number: number): Due {
    let at = this.#dues.length;
    while (at > 0 && this.#dues[at - 1]!.number > number) at -= 1;
    const before = this.#dues[at - 1];
    if (before?.number === number) return before;
    const due = { number, items: [] };
    if (at === this.#dues.length) this.#dues.push(due);
    else this.#dues.splice(at, 0, due);
    return due;
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
    const woken: Item[] = [];
    while (this.#dues.length > 0 && this.#dues[0]!.number * GRAIN <= now) {
      for (const item of this.#dues.shift()!.items) {
        item.due = undefined;
        woken.push(item as Item);
      }
    }
    this.#size -= woken.length;
    while (this.#dues[0]?.items.length === 0) this.#dues.shift();
    if (woken.length > 0) this.wake(woken);
    const next = this.#dues[0];
    if (next && next.number < this.#timerFor) this.#arm(next.number);
  }

  /** Drops all wake-ups. */
  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerFor = Infinity;
    this.#dues.length = 0;
  }
}

/** Resolves after `ms`, or when the signal aborts. */
export function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      callOff();
      resolve();
    };
    const cancel = clock.after(Math.max(0, ms), end);
    const callOff = onAbort(signal, end);
  });
}

/** Whether `end` resolves within `ms`. */
export async function endsWithin(
  ms: number,
  end: Promise<unknown>,
  clock: Clock,
): Promise<boolean> {
  const ended = new AbortController();
  const late = pause(ms, clock, ended.signal).then(() => false);
  const inTime = await Promise.race([end.then(() => true), late]);
  ended.abort();
  return inTime;
}
