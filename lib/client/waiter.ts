import type { CallSettings } from '../options/index.js';
import type { BaseLease } from './base-lease.js';
import type { Due, Scheduled } from './schedule.js';

/** One caller that waits: settles once, with its lease, an error, or the reason of its abort. */
export class Waiter implements Scheduled {
  readonly lease: Promise<BaseLease>;
  #resolve!: (lease: BaseLease) => void;
  #reject!: (reason: unknown) => void;
  #callOff: (() => void) | undefined;
  /** Its neighbours in the local queue. */
  before: Waiter | undefined;
  behind: Waiter | undefined;
  /** What happens when the bound of its call is reached. */
  expire: (() => void) | undefined;
  /** Where the schedule of bounds has it. */
  due: Due | undefined;
  nth = 0;

  constructor(
    readonly call: CallSettings,
    /** When its call began, in monotonic ms. */
    readonly startedAt: number,
  ) {
    this.lease = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** `callOff` runs when it settles: its signal matters to nobody then. */
  whenSettled(callOff: () => void): void {
    this.#callOff = callOff;
  }

  enter(lease: BaseLease): void {
    this.#callOff?.();
    this.#resolve(lease);
  }

  fail(reason: unknown): void {
    this.#callOff?.();
    this.#reject(reason);
  }
}
