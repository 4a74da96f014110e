import type { Grant } from '../locks/grant.js';
import type { Holding } from './holding.js';
import { Line } from './line.js';
import type { Place } from './place.js';
import type { Slice } from './slice.js';

/**
 * Where so few may wait there are no runs: those who had their turns in one, 64 at most (run-behind.lua), stand in the
 * queue until it is over, and others would be turned away for them.
 */
const FEW = 1_000;

/**
 * A line of one caller, with a place of his own in the store's queue. Where the store said that the places directly
 * behind are this process's too, the lease goes on to them in memory, in the queue's order, until the slice is over.
 */
export class SingleLine extends Line {
  override granted(place: Place, grant: Grant): void {
    const few = this.host.settings.limits.waitersPerKey < FEW;
    super.granted(place, few ? { ...grant, run: undefined } : grant);
  }

  override ended(holding: Holding): void {
    if (holding === this.holding) this.#leavePassed();
    super.ended(holding);
  }

  overstayed(): void {
    if (this.holding) this.#leavePassed();
  }

  passOn(holding: Holding): boolean {
    if (holding !== this.holding || holding.settings.minHold > 0) return false;
    const next = this.#placeBehind(holding);
    if (!next || !this.mayPass(holding, next.request.ttl)) return false;
    this.holding = undefined;
    next.inherit(holding, this.slice);
    this.retire();
    return true;
  }

  /** The lease of the place before this one, within the same turn. */
  inherited(place: Place, holding: Holding, slice: Slice): void {
    this.place = undefined;
    this.recovered();
    this.slice = slice;
    slice.reached(place);
    const waiter = this.waiters.first!;
    this.admit(waiter, holding.heir(waiter.call, this));
  }

  takePassed(): Place[] | undefined {
    return this.slice.takePassed();
  }

  #placeBehind({ request }: Holding): Place | undefined {
    const { run } = this.slice;
    const next = run && this.host.firstOfRun(request, run);
    if (!next?.canInherit) return undefined;
    const { tokens, share, dialect } = next.request;
    return tokens === this.tokens && !share && !dialect ? next : undefined;
  }

  /** Those who have had their turns are seen in the store's queue no longer. */
  #leavePassed(): void {
    const passed = this.takePassed();
    if (passed) this.host.departPassed(passed);
  }

  protected watchSlice(): void {
    if (this.slice.hasPassed) this.host.slices.set(this, this.slice.overstayedAt);
  }
}
