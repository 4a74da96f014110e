import { LeaseLostError, type LossReason } from '../errors/index.js';
import type { Claim, Held } from '../locks/lock-primitive.js';
import type { CallSettings, Clock } from '../options/index.js';
import type { Trail } from './trail.js';

/** By how much clocks may differ over a lease: 1 % of it and 2 ms (Redlock's drift, redis.io/docs). */
function drift(lease: number): number {
  return lease * 0.01 + 2;
}

/** The last moment of a lease that had `remaining` ms left when it was read, not before `sentAt`. */
export function deadlineOf({ sentAt, remaining }: { sentAt: number; remaining: number }): number {
  return sentAt + remaining - drift(remaining);
}

/**
 * What this process holds under one holder id: held → closing → released, or held → lost, never back.
 * Believes no later deadline than the server's, on two clocks: the monotonic one, and the wall clock,
 * which alone keeps counting while the machine sleeps.
 */
export class Holding {
  state: 'held' | 'closing' | 'released' | 'lost' = 'held';
  /** The first moment of the lease as we may count it. */
  readonly since: number;
  readonly fencingToken: number | undefined;
  deadline = 0;
  wallDeadline = 0;
  /** How many leases of callers stand on it: re-entry adds, release takes away. */
  holds = 0;
  /** What loss was announced as, if it was. */
  suspected: LossReason | undefined;
  lossReason: LossReason | undefined;
  #controller: AbortController | undefined;

  constructor(
    readonly claim: Claim,
    readonly settings: CallSettings,
    grant: Omit<Held, 'kind'>,
    readonly trail: Trail,
    private readonly clock: Clock,
  ) {
    this.since = grant.sentAt;
    this.fencingToken = grant.fencingToken;
    this.confirm(grant);
  }

  /** The server said how much is left. */
  confirm(answer: { sentAt: number; remaining: number }): void {
    this.deadline = deadlineOf(answer);
    this.wallDeadline = this.clock.wall() + (this.deadline - this.clock.monotonic());
  }

  /** True while nobody else can hold the lock. Looks at the clocks, not at a timer. */
  get held(): boolean {
    return this.state === 'held' && this.#inTime();
  }

  /** The wall clock ran ahead: the machine slept, or somebody set it. Only the server knows. */
  get inDoubt(): boolean {
    return this.state === 'held' && !this.#inTime() && this.clock.monotonic() < this.deadline;
  }

  #inTime(): boolean {
    return this.clock.monotonic() < this.deadline && this.clock.wall() < this.wallDeadline;
  }

  /** Aborts with the `LeaseLostError` when the lease is lost. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.lossReason) this.#controller.abort(this.lossError());
    }
    return this.#controller.signal;
  }

  lose(reason: LossReason): void {
    if (this.state !== 'held' && this.state !== 'closing') return;
    this.state = 'lost';
    this.lossReason = reason;
    this.#controller?.abort(this.lossError());
  }

  lossError(): LeaseLostError {
    return new LeaseLostError(this.claim.key, this.lossReason ?? 'expired');
  }
}
