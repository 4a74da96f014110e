import type { Batch } from '../../locks/lock-store.js';
import type { LockRequest } from '../../locks/lock-request.js';

/** How long, in ms, and how often a process may hand a lock off among its own callers. */
export const BUDGET = { ms: 10, handOffs: 250 };

/** A turn shorter than this, in ms, ends before a request sent at its beginning is answered. */
const ROOM_TO_ASK = 0.5;

/** The time slice of one process: from the store's grant on, while it may hand the lock off in memory. */
export class TimeSlice {
  readonly #end: number;
  #handOffs = 0;
  #tokensLeft: number;
  #served: LockRequest[] | undefined;
  /** When the present holder got the lock. */
  #passedAt: number;
  /** The duration of the shortest turn so far, in ms. */
  #shortest = Infinity;

  constructor(
    now: number,
    /** How many tokens the grant reserved; the first holder has the first. */
    tokens: number,
    /** The entries of this process that are still to be served in this slice, if there are any. */
    public batch: Batch | undefined,
    /** Whether other processes wait for the end of the slice. */
    private readonly contended: boolean,
  ) {
    this.#end = now + BUDGET.ms;
    this.#tokensLeft = tokens - 1;
    this.#passedAt = now;
  }

  /** Takes one hand-off from the slice. False if the slice is over, or no token is left for a fenced lease. */
  spend(now: number, fenced: boolean): boolean {
    if (now >= this.#end || this.#handOffs >= BUDGET.handOffs) return false;
    if (fenced && this.#tokensLeft <= 0) return false;
    this.#handOffs += 1;
    this.#tokensLeft -= 1;
    this.#shortest = Math.min(this.#shortest, now - this.#passedAt);
    this.#passedAt = now;
    return true;
  }

  /**
   * True if other processes wait, and the slice ends with its present holder: no turn so far was short enough for one more.
   * The callers behind then ask for their next entry now, so that the release has less to do.
   */
  get endsWithHolder(): boolean {
    const next = this.#passedAt + this.#shortest;
    return this.contended && this.#shortest >= ROOM_TO_ASK && next >= this.#end;
  }

  /** The lock went to the first entry of the batch. The store does not know that yet. */
  serve(entry: LockRequest): void {
    const { entries, last } = this.batch!;
    this.batch = entries > 1 ? { entries: entries - 1, last } : undefined;
    (this.#served ??= []).push(entry);
  }

  /** Whether entries were served of which the store does not know yet. */
  get hasServed(): boolean {
    return this.#served !== undefined;
  }

  /** Takes the served entries out of the slice: the caller reports them to the store. */
  takeServed(): LockRequest[] | undefined {
    const served = this.#served;
    this.#served = undefined;
    return served;
  }

  /** When a holder has stayed so long that the callers behind it need an entry in the store's queue. */
  get overstayedAt(): number {
    return this.#end + BUDGET.ms;
  }
}
