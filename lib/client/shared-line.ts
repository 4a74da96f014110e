import type { Holding } from './holding.js';
import { Line } from './line.js';
import type { Waiter } from './waiter.js';

/**
 * A line that any caller of the process may join. Who gives the lock back passes it on in memory, with a token
 * of its own from those that the grant reserved, until the slice is over; then the line queues again, behind
 * other processes.
 */
export class SharedLine extends Line {
  /** Those behind the holder take a place in the store's queue. */
  overstayed(): void {
    if (!this.place && this.waiters.first) this.queue();
  }

  passOn(holding: Holding): boolean {
    const heir = this.#heirOf(holding);
    if (!heir || !this.mayPass(holding, heir.call.ttl)) return false;
    this.admit(heir, holding.heir(heir.call, this));
    return true;
  }

  giveBack(holding: Holding): Promise<boolean> | undefined {
    return this.#heirOf(holding) && this.newPlace().askGivingBack(holding.request);
  }

  protected watchSlice(): void {
    if (this.holding && !this.place && this.waiters.first) {
      this.host.slices.set(this, this.slice.overstayedAt);
    }
  }

  /** Who comes next, unless a place waits for him or the lease stays taken for a while. */
  #heirOf(holding: Holding): Waiter | undefined {
    if (this.place || holding !== this.holding || holding.settings.minHold > 0) return undefined;
    return this.waiters.first;
  }
}
