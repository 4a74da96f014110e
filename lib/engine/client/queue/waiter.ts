import type { AcquireTrace } from '../../events/index.js';
import type { CallSettings } from '../../options/index.js';
import type { BaseLease } from '../leases/lease.js';
import type { Due, Scheduled } from '../leases/timers.js';

/** One waiting caller. It settles once: with its lease, an error, or the reason of its abort. */
export class Waiter implements Scheduled {
  readonly lease: Promise<BaseLease>;
  /** The promise's own functions, so that a lease comes to its caller without a detour. */
  resolve!: (lease: BaseLease | Promise<never>) => void;
  reject!: (reason: unknown) => void;
  /** The waiter's neighbours in the local queue. */
  before: Waiter | undefined;
  behind: Waiter | undefined;
  /** The waiter's place in the schedule of bounds. */
  due: Due | undefined;
  nth = 0;
  /** Ends the call when its time is over. */
  expire: (() => void) | undefined;
  /** Stops listening to the caller's signal. */
  callOff: (() => void) | undefined;

  constructor(
    readonly call: CallSettings,
    /** When the waiter's call began, in monotonic ms. */
    readonly startedAt: number,
    /** The call that events tell of, if anybody listens. */
    readonly trace: AcquireTrace | undefined,
  ) {
    this.lease = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** How many waiters are before this one in the local queue. */
  get place(): number {
    let place = 0;
    for (let each = this.before; each; each = each.before) place += 1;
    return place;
  }

  goBehind(last: Waiter | undefined): void {
    this.before = last;
    if (last) last.behind = this;
  }

  stepOut(): void {
    const { before, behind } = this;
    if (before) before.behind = behind;
    if (behind) behind.before = before;
    this.before = this.behind = undefined;
  }
}
