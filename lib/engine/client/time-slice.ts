import type { Batch } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';

/** How long one process may hand a lock on among its own callers, in ms, and how often. */
export const BUDGET = { ms: 10, handOffs: 250 };

/** A turn that is shorter, in ms, ends before an ask from its beginning is answered. */
const ROOM_TO_ASK = 0.5;

/** The turn of one process: from the store's grant on, for as long as it may hand the lock on in memory. */
export class TimeSlice {
  readonly #end: number;
  #handOffs = 0;
  #tokensLeft: number;
  #served: LockRequest[] | undefined;
  /** When its present holder got the lock. */
  #passedAt: number;
  /** How long the shortest of its turns took, in ms. */
  #shortest = Infinity;
  #endsWithHolder = false;

  constructor(
    now: number,
    /** How many tokens the grant reserved; the first is the first holder's. */
    tokens: number,
    /** The entries of this process that are still to come in this turn, if there are any. */
    public batch: Batch | undefined,
    /** Whether other processes wait for its end. */
    private readonly contended: boolean,
  ) {
    this.#end = now + BUDGET.ms;
    this.#tokensLeft = tokens - 1;
    this.#passedAt = now;
  }

  /** One more hand-off; false if the turn is over, or no token is left for it. */
  spend(now: number, fenced: boolean): boolean {
    if (now >= this.#end || this.#handOffs >= BUDGET.handOffs) return false;
    if (fenced && this.#tokensLeft <= 0) return false;
    this.#handOffs += 1;
    this.#tokensLeft -= 1;
    const shortest = (this.#shortest = Math.min(this.#shortest, now - this.#passedAt));
    this.#endsWithHolder = this.contended && shortest >= ROOM_TO_ASK && now + shortest >= this.#end;
    this.#passedAt = now;
    return true;
  }

  /**
   * Whether other processes wait for its end, and it comes with its present holder, as no turn before was short enough for
   * one more. Then those behind it ask for their next entry now: the step that gives the lock back has less to do.
   */
  get endsWithHolder(): boolean {
    return this.#endsWithHolder;
  }

  /** The lock went to the first entry of the batch, which the store does not know yet. */
  serve(entry: LockRequest): void {
    const { entries, last } = this.batch!;
    this.batch = entries > 1 ? { entries: entries - 1, last } : undefined;
    (this.#served ??= []).push(entry);
  }

  /** Whether the lock went to entries of which the store does not know yet. */
  get hasServed(): boolean {
    return this.#served !== undefined;
  }

  /** The entries that the lock went to: the caller reports them to the store. */
  takeServed(): LockRequest[] | undefined {
    const served = this.#served;
    this.#served = undefined;
    return served;
  }

  /** When a holder has stayed so long that those behind it want an entry in the store's queue. */
  get overstayedAt(): number {
    return this.#end + BUDGET.ms;
  }
}
