import type { Held } from '../locks/lock-primitive.js';
import type { Holding } from './holding.js';
import { Line } from './line.js';
import type { Place } from './place.js';
import type { Slice } from './slice.js';

/**
 * Where so few may wait there are no runs: those who had their turns in one, 64 at most, stand in the queue until it
 * is over, and others would be turned away for them.
 */
const FEW = 1_000;

/**
 * A line of one caller, with a place of his own in the store's queue. Where the store said that the places directly
 * behind are this process's too, the lease goes on to them in memory, in the queue's order, until the slice is over.
 */
export class SingleLine extends Line {
  /** Where he stood in the queue. */
  #arrival: string | undefined;

  override granted(place: Place, grant: Omit<Held, 'kind'>): void {
    this.#arrival = place.arrival;
    super.granted(place, grant);
  }

  overstayed(): void {
    if (this.holding) this.leavePassed(this.holding);
  }

  passOn(holding: Holding): boolean {
    if (holding !== this.holding || holding.settings.minHold > 0) return false;
    const next = this.#placeBehind(holding);
    if (!next || !this.mayPass(holding, next.claim.ttl)) return false;
    this.holding = undefined;
    next.inherit(holding, this.slice);
    this.retire();
    return true;
  }

  giveBack(): undefined {
    return undefined;
  }

  /** The lease of the place before this one, within the same turn. */
  inherited(place: Place, holding: Holding, slice: Slice): void {
    this.#arrival = place.arrival;
    this.place = undefined;
    this.recovered();
    this.slice = slice;
    const waiter = this.waiters.first!;
    const heir = holding.heir(waiter.call, this);
    heir.cameThrough(place);
    this.admit(waiter, heir);
  }

  #placeBehind({ claim }: Holding): Place | undefined {
    const { last } = this.slice;
    if (last === undefined || this.host.settings.limits.waitersPerKey < FEW) return undefined;
    const next = this.host.firstPlace(claim);
    const between = Number(next?.arrival) > Number(this.#arrival) && Number(next?.arrival) <= last;
    if (!next || !between || !next.canInherit) return undefined; // else the server has forgotten him
    const { tokens, share, dialect } = next.claim;
    return tokens === this.tokens && !share && !dialect ? next : undefined;
  }

  protected watchSlice(): void {
    if (this.slice.last !== undefined) this.host.slices.set(this, this.slice.overstayedAt);
  }
}
