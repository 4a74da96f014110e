import type { LockRequest } from '../../locks/lock-request.js';
import type { RenewalGroup, HeldLease } from './held-lease.js';
import type { Due } from './timers.js';
import { deadlineOf, type Term } from '../../locks/validity.js';

/** A batch of fewer leases is merged with others that are due. */
const FEW = 128;

/**
 * Leases that one command renews. While no lease of the batch changes, all have one wake-up, one list that the store encodes
 * once, and one answer that says how long they last.
 */
export class RenewalBatch implements RenewalGroup {
  due: Due | undefined;
  nth = 0;
  /** Whether a request has no answer yet. A lease that is over keeps this object alone, and none of the other leases. */
  readonly renewal = { underWay: false };
  /** Whether the leases may stay together: all are renewed without end, at the same pace. */
  readonly #steady: boolean;
  /** How many leases are still in the batch. */
  #size: number;
  /** The common answer for all leases, if the server gave one. */
  #term: Term | undefined;

  constructor(
    readonly heldLeases: readonly HeldLease[],
    readonly requests: readonly LockRequest[],
  ) {
    const { ttl } = heldLeases[0]!.settings;
    this.#steady = heldLeases.every(({ settings }) => {
      return settings.renew && settings.maxHold === Infinity && settings.ttl === ttl;
    });
    this.#size = heldLeases.length;
    for (const heldLease of heldLeases) {
      heldLease.group = this;
      heldLease.claim.renewal = this.renewal;
    }
  }

  /** The earliest deadline of the leases, in monotonic ms. */
  get deadline(): number {
    if (this.#term) return deadlineOf(this.#term);
    return Math.min(...this.heldLeases.map(({ deadline }) => deadline));
  }

  /** Takes the common answer, or undefined if the answers differ. Returns whether the leases stay together. */
  answered(term: Term | undefined): boolean {
    this.renewal.underWay = false;
    this.#term = term;
    return term !== undefined && this.#whole;
  }

  /** Whether the batch, now due, sends the same request again. `alone`: nothing else is due. */
  goesOn(now: number, alone: boolean): boolean {
    return (
      this.#whole && !this.renewal.underWay && now < this.deadline && (alone || this.#size >= FEW)
    );
  }

  leave(heldLease: HeldLease): boolean {
    heldLease.group = undefined;
    this.#size -= 1;
    return this.#size === 0;
  }

  /** Ends the batch: each lease is renewed apart from now on. Returns the leases that were still in it. */
  dissolve(): HeldLease[] {
    const members = this.heldLeases.filter(({ group }) => group === this);
    for (const heldLease of members) this.leave(heldLease);
    return members;
  }

  get #whole(): boolean {
    return this.#steady && this.#size === this.heldLeases.length;
  }
}
