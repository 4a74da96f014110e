import { type CallSettings, onAbort } from '../options/index.js';
import type { BaseLease } from './base-lease.js';
import type { Due, Scheduled } from './schedule.js';

/** Where a waiter stands, and what he tells there. */
export interface WaiterLine {
  /** He goes before his turn, for this reason. */
  abandon(waiter: Waiter, reason: unknown): void;
  /** The bound of his call is reached. */
  expire(waiter: Waiter): void;
}

/** One caller that waits: settles once, with his lease, an error, or the reason of his abort. */
export class Waiter implements Scheduled {
  readonly lease: Promise<BaseLease>;
  #resolve!: (lease: BaseLease) => void;
  #reject!: (reason: unknown) => void;
  #callOff: (() => void) | undefined;
  #settled = false;
  /** His neighbours in the line. */
  before: Waiter | undefined;
  behind: Waiter | undefined;
  /** Where the schedule of bounds has him. */
  due: Due | undefined;
  nth = 0;

  constructor(
    readonly call: CallSettings,
    readonly startedAt: number,
    private readonly line: WaiterLine,
    signal: AbortSignal | undefined,
  ) {
    this.lease = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (signal) {
      this.#callOff = onAbort(signal, () => {
        if (!this.#settled) line.abandon(this, signal.reason);
      });
    }
  }

  enter(lease: BaseLease): void {
    this.#settle();
    this.#resolve(lease);
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
    this.#callOff?.();
  }
}
