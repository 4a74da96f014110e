import type { CallSettings } from '../options/index.js';
import type { Holding } from './holding.js';
import type { Due, Scheduled } from './schedule.js';

/** Where a waiter stands, and what he tells there. */
export interface WaiterLine {
  /** He goes before his turn, for this reason. */
  abandon(waiter: Waiter, reason: unknown): void;
  /** The bound of his call is reached. */
  expire(waiter: Waiter): void;
}

/** One caller that waits: settles once, with what he holds, an error, or the reason of his abort. */
export class Waiter implements Scheduled {
  readonly holding: Promise<Holding>;
  #resolve!: (holding: Holding) => void;
  #reject!: (reason: unknown) => void;
  #onAbort: (() => void) | undefined;
  #settled = false;
  /** His neighbours in the line. */
  before: Waiter | undefined;
  behind: Waiter | undefined;
  /** Where the schedule of bounds has him. */
  due: Due | undefined;

  constructor(
    readonly call: CallSettings,
    readonly startedAt: number,
    private readonly line: WaiterLine,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.holding = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (signal) {
      this.#onAbort = () => {
        if (!this.#settled) line.abandon(this, signal.reason);
      };
      signal.addEventListener('abort', this.#onAbort, { once: true });
    }
  }

  enter(holding: Holding): void {
    this.#settle();
    this.#resolve(holding);
  }

  fail(reason: unknown): void {
    this.#settle();
    this.#reject(reason);
  }

  /** The bound of his call is reached. */
  expire(): void {
    this.line.expire(this);
  }

  #settle(): void {
    this.#settled = true;
    if (this.#onAbort) this.signal!.removeEventListener('abort', this.#onAbort);
  }
}
