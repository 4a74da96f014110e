import type { AcquireTrace } from '../events/index.js';
import type { CallSettings } from '../options/index.js';
import type { BaseLease } from './lease.js';
import type { Due, Scheduled } from './timers.js';

/** One caller that waits: settles once, with its lease, an error, or the reason of its abort. */
export class Waiter implements Scheduled {
  readonly lease: Promise<BaseLease>;
  /** Both are of the promise itself: a lease comes to its caller without a detour. */
  resolve!: (lease: BaseLease) => void;
  reject!: (reason: unknown) => void;
  /** Its neighbours in the local queue. */
  before: Waiter | undefined;
  behind: Waiter | undefined;
  /** Where the schedule of bounds has it. */
  due: Due | undefined;
  nth = 0;
  /** What happens when the bound of its call is reached. */
  expire: (() => void) | undefined;
  /** From then on its signal matters to nobody. */
  callOff: (() => void) | undefined;

  constructor(
    readonly call: CallSettings,
    /** When its call began, in monotonic ms. */
    readonly startedAt: number,
    /** What events say of its call, if anybody listens. */
    readonly trace: AcquireTrace | undefined,
  ) {
    this.lease = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** How many are before it in the local queue. */
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
