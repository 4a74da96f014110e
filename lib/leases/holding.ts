import { LeaseLostError, type LossReason } from '../errors/index.js';
import type { Claim, Held } from '../locks/lock-primitive.js';
import type { CallSettings, Clock } from '../options/index.js';
import type { Place } from './place.js';
import type { Due, Scheduled } from './schedule.js';
import type { Trail } from './trail.js';

/** By how much clocks may differ over a lease: 1 % of it and 2 ms (Redlock's drift, redis.io/docs). */
function drift(lease: number): number {
  return lease * 0.01 + 2;
}

/** The last moment of a lease that had `remaining` ms left when it was read, not before `sentAt`. */
export function deadlineOf({ sentAt, remaining }: { sentAt: number; remaining: number }): number {
  return sentAt + remaining - drift(remaining);
}

/** Who comes after a holding. */
export interface Onward {
  /** Passes it to another caller of this process; false if the store has to be told. */
  passOn(holding: Holding): boolean;
  /** Gives it back in one step with something else; undefined if there is nothing else to do. */
  giveBack?(holding: Holding): Promise<boolean> | undefined;
  /** The places that it came through in memory: who takes them tells the store. */
  takePassed?(): Place[] | undefined;
  /** It is over, whatever way. */
  ended(holding: Holding): void;
}

/**
 * What this process holds under one holder id: held → closing → released, or held → lost, never back.
 * While its holder awaits a condition it is parked; he goes on under another.
 *
 * Believes no later deadline than the server's, on two clocks: the monotonic one, and the wall clock,
 * which alone keeps counting while the machine sleeps.
 */
export class Holding implements Scheduled {
  state: 'held' | 'parked' | 'closing' | 'released' | 'lost' = 'held';
  /** The first moment of the lease as we may count it. */
  readonly since: number;
  readonly fencingToken: number | undefined;
  /** Where the watchdog's schedule has it. */
  due: Due | undefined;
  deadline = 0;
  wallDeadline = 0;
  /** How many leases of callers stand on it: re-entry adds, release takes away. */
  holds = 0;
  /** What loss was announced as, if it was. */
  suspected: LossReason | undefined;
  lossReason: LossReason | undefined;
  #controller: AbortController | undefined;
  #successor: Holding | undefined;
  #changes = 0;

  constructor(
    public claim: Claim,
    readonly settings: CallSettings,
    grant: Omit<Held, 'kind'>,
    readonly trail: Trail,
    private readonly clock: Clock,
    readonly onward: Onward,
  ) {
    this.since = grant.sentAt;
    this.fencingToken = grant.fencingToken;
    this.confirm(grant);
  }

  /** The same lease in the hands of the next caller: no longer than it lasts, with the next token. */
  heir(call: CallSettings, onward: Onward): Holding {
    const sentAt = this.clock.monotonic();
    const token = this.fencingToken;
    const fencingToken = token === undefined ? undefined : token + 1;
    const grant = { sentAt, remaining: 0, fencingToken, tokens: 0 };
    const heir = new Holding(this.claim, call, grant, this.trail, this.clock, onward);
    heir.deadline = this.deadline;
    heir.wallDeadline = this.wallDeadline;
    return heir;
  }

  /** A step that makes another lease of it on the server. */
  async change<Answer>(step: () => Promise<Answer>): Promise<Answer> {
    this.#changes += 1;
    try {
      return await step();
    } finally {
      this.#changes -= 1;
    }
  }

  /** What it is on the server is not certain: it goes to nobody meanwhile. */
  get changes(): boolean {
    return this.#changes > 0;
  }

  /** This, or what its holder went on as when a condition had been signalled. */
  get current(): Holding {
    return this.#successor?.current ?? this;
  }

  /** Its leases and its signal are the other's from now on. */
  goOnAs(successor: Holding): void {
    this.state = 'released';
    successor.holds = this.holds;
    successor.#controller = this.#controller;
    this.#successor = successor;
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
    return new LeaseLostError(
      this.claim.key,
      this.lossReason ?? (this.state === 'parked' ? 'awaiting' : 'expired'),
    );
  }
}
