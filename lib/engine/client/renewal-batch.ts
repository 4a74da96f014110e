import type { LockRequest } from '../locks/lock-request.js';
import type { RenewalGroup, HeldLease } from './held-lease.js';
import type { Due } from './timers.js';
import { deadlineOf, type Term } from '../locks/validity.js';

/** A batch of fewer leases goes with others that are due. */
const FEW = 128;

/**
 * Leases that one command renews. Those that are renewed as they were stay together: they are woken as one, asked for by
 * the same list, which the store encodes once, and dated by one answer.
 */
export class RenewalBatch implements RenewalGroup {
  due: Due | undefined;
  nth = 0;
  /** Whether it is asked for, and not answered. What of its leases is over keeps this, and none of the others. */
  readonly renewal = { underWay: false };
  /** Whether its leases may stay together: they are renewed without end, all at the same pace. */
  readonly #steady: boolean;
  /** How many are still in it. */
  #size: number;
  /** What the server said of all of them alike. */
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

  /** When the first of its leases is over. */
  get deadline(): number {
    if (this.#term) return deadlineOf(this.#term);
    return Math.min(...this.heldLeases.map(({ deadline }) => deadline));
  }

  /** The same for all. Returns whether they stay together. */
  answered(term: Term | undefined): boolean {
    this.renewal.underWay = false;
    this.#term = term;
    return term !== undefined && this.#whole;
  }

  /** Whether the same question is asked again, now that it is due, with or without others. */
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

  /** Each is renewed apart from now on. Returns those that were still in it. */
  dissolve(): HeldLease[] {
    const members = this.heldLeases.filter(({ group }) => group === this);
    for (const heldLease of members) this.leave(heldLease);
    return members;
  }

  get #whole(): boolean {
    return this.#steady && this.#size === this.heldLeases.length;
  }
}
