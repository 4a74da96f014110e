import type { LossReason } from '../../errors/index.js';
import type { Publisher } from '../../events/index.js';
import { batchesOf } from '../../locks/batches.js';
import type { Extended, Extension, LockStore } from '../../locks/lock-store.js';
import type { LockRequest } from '../../locks/lock-request.js';
import { type Clock, type Moment, momentOf, partedSince } from '../../options/index.js';
import { type HeldLease, LOSS, type RenewalGroup } from './held-lease.js';
import { isRefused } from './claim.js';
import type { OnRefused } from './cleanup.js';
import { type Due, Schedule } from './timers.js';
import { deadlineOf, readClocks, SLACK, type Term, validityAt } from '../../locks/validity.js';

/** The shortest pause between two renewals of one lease, in ms. */
const SHORTEST_PAUSE = 10;
/** Renewals fall on beats, in ms, so that many leases share a command. Pauses up to `SHORT` do not wait for one. */
const BEAT = 25;
const SHORT = 10 * BEAT;
/** The least number of leases of one ttl that are renewed apart from others. */
const WORTH_A_COMMAND = 8;
/** A batch of fewer leases is merged with others that are due. */
const FEW = 128;

/**
 * Renews leases at a third of their ttl, in as few commands as their nodes allow. It finds a lost lease at once by the
 * server's answer, or at the deadline without one. A failed renewal is retried until then.
 */
export class Watchdog {
  /** Single leases, and batches of leases that were renewed together. */
  readonly #schedule: Schedule<HeldLease | RenewalBatch>;

  constructor(
    private readonly store: LockStore,
    private readonly clock: Clock,
    private readonly lost: (heldLease: HeldLease, reason: LossReason) => void,
    private readonly onRefused: OnRefused,
    private readonly publisher: Publisher,
  ) {
    this.#schedule = new Schedule(clock, (due) => this.#wake(due));
  }

  watch(heldLease: HeldLease): void {
    this.forget(heldLease);
    this.#watch(heldLease, this.clock.monotonic());
  }

  /** Stops watching before it returns: no renewal is sent for this lease any more. */
  forget(heldLease: HeldLease): void {
    const { group } = heldLease;
    if (!group) this.#schedule.delete(heldLease);
    else if (group.leave(heldLease)) this.#schedule.delete(group);
  }

  /** Stops watching all leases. */
  stop(): void {
    this.#schedule.stop();
  }

  get watched(): number {
    return this.#schedule.size;
  }

  #wake(due: (HeldLease | RenewalBatch)[]): void {
    const now = this.clock.monotonic();
    const renewable: HeldLease[] = [];
    for (const one of due) {
      if (!(one instanceof RenewalBatch)) this.#sort(one, now, renewable);
      else if (one.goesOn(now, due.length === 1)) this.#ask(one);
      else for (const heldLease of one.dissolve()) this.#sort(heldLease, now, renewable);
    }
    this.renew(renewable);
  }

  /** Decides what is due for a lease: its loss, a renewal, or a later look. */
  #sort(heldLease: HeldLease, now: number, renewable: HeldLease[]): void {
    if (heldLease.state !== 'held') return;
    if (now >= heldLease.deadline) this.lost(heldLease, 'expired');
    else if (!this.#wantsRenewal(heldLease, now)) this.#watch(heldLease, now);
    else renewable.push(heldLease);
  }

  /** Renews leases now, in batches. Each batch settles by its own answer: a node that hangs delays no lease of another node. */
  renew(due: Iterable<HeldLease>): void {
    const heldLeases: HeldLease[] = [];
    for (const heldLease of due) {
      if (heldLease.state !== 'held') continue; // a listener to another loss may have released it
      heldLease.again = heldLease.claim.renews;
      if (!heldLease.again) heldLeases.push(heldLease);
      else {
        this.forget(heldLease);
        this.#schedule.set(heldLease, heldLease.deadline);
      }
    }
    for (const alike of byPace(heldLeases)) {
      const requests = alike.map((each) => each.extension(this.#wanted(each)));
      for (const batch of this.store.batches(requests)) {
        const members = batch.map((at) => alike[at]!);
        for (const heldLease of members) this.forget(heldLease);
        this.#ask(
          new RenewalBatch(
            members,
            batch.map((at) => requests[at]!),
          ),
        );
      }
    }
  }

  #ask(batch: RenewalBatch): void {
    batch.renewal.underWay = true;
    this.#schedule.set(batch, batch.deadline);
    void this.#extend(batch);
  }

  async #extend(batch: RenewalBatch): Promise<void> {
    let answer: Extension | undefined;
    try {
      answer = await this.store.extend(batch.requests);
    } catch (error) {
      if (isRefused(error)) this.onRefused(error, 'renewal');
      for (const heldLease of batch.heldLeases) this.#notRenewed(heldLease, error);
      // The server may have renewed or not. The known deadline stands, and another request follows before it.
    }
    const now = readClocks(this.clock);
    const term = answer && commonTerm(answer, batch.requests[0]!.ttl);
    const stays = batch.answered(term) && validityAt(term!, now) === 'valid';
    if (stays) this.#goOn(batch, term!, now.monotonic);
    else this.#part(batch, answer, now);
  }

  /** All leases were renewed alike: one term dates them all, and one wake-up is next. */
  #goOn(batch: RenewalBatch, term: Term, now: number): void {
    batch.heldLeases.forEach((heldLease, at) => heldLease.renewed(term, batch.requests[at]!));
    const { deadline } = batch;
    const { ttl } = batch.heldLeases[0]!.settings;
    this.#schedule.set(batch, turnBefore(deadline, ttl, now));
  }

  #part(batch: RenewalBatch, answer: Extension | undefined, now: Moment): void {
    this.#schedule.delete(batch);
    batch.dissolve();
    const again: HeldLease[] = [];
    const jitter = Math.random(); // one value for all, so that leases of one deadline are renewed together again
    batch.heldLeases.forEach((heldLease, at) => {
      if (answer?.remaining[at] === 'unknown') this.#notRenewed(heldLease, undefined);
      if (heldLease.state !== 'held') return; // a listener to the failure may have released it
      const request = batch.requests[at]!;
      const remaining = answerTo(request, heldLease, answer?.remaining[at]);
      this.#settle(heldLease, answer?.sent, remaining, request, now.monotonic, jitter);
      const { state, term, overlong } = heldLease;
      if (remaining === 'unknown' || state !== 'held') return;
      const slept = validityAt(term, now) === 'doubtful'; // the machine slept while the answer was on its way
      if (slept || heldLease.again || overlong !== undefined) again.push(heldLease);
    });
    this.renew(again);
  }

  #notRenewed(heldLease: HeldLease, error: unknown): void {
    if (heldLease.state !== 'held') return;
    heldLease.notRenewed(error);
    this.publisher.renewalFailed(heldLease, heldLease.deadline - this.clock.monotonic(), error);
  }

  #settle(
    heldLease: HeldLease,
    sent: Moment | undefined,
    remaining: Extended,
    asked: LockRequest,
    now: number,
    jitter: number,
  ): void {
    if (remaining === 'taken' || remaining === 'free') {
      this.lost(heldLease, LOSS[remaining]);
    } else if (remaining === 'unknown' || !sent) {
      const pause = Math.min(1_000, Math.max(SHORTEST_PAUSE, (heldLease.deadline - now) / 5));
      this.#schedule.set(heldLease, Math.min(now + pause, heldLease.deadline));
    } else {
      heldLease.renewed({ sent, remaining }, asked);
      this.#watch(heldLease, now, jitter);
    }
  }

  #watch(heldLease: HeldLease, now: number, jitter = Math.random()): void {
    const { deadline, renewAt, settings } = heldLease;
    const turn = renewAt < Infinity ? renewAt : turnBefore(deadline, settings.ttl, now, jitter);
    const isRenewed = this.#wantsRenewal(heldLease, now);
    this.#schedule.set(heldLease, isRenewed ? Math.min(deadline, turn) : deadline);
  }

  /**
   * How long a lease shall last from now on, in ms. Without renewal it lasts no longer than its ttl in all, on both clocks.
   * Once its longest hold is over, it lasts no longer than it already does.
   */
  #wanted(heldLease: HeldLease): number {
    const { settings, since, ends, term, deadline } = heldLease;
    const { ttl, renew, maxHold } = settings;
    if (renew && maxHold === Infinity) return ttl;
    const now = momentOf(this.clock);
    if (renew && now.monotonic < since + maxHold) return ttl;
    const isShort = !renew && this.#wantsToppingUp(heldLease, now.monotonic);
    const end = Math.max(deadline, isShort ? ends : 0);
    const left = end - now.monotonic - Math.max(0, partedSince(term.sent, now));
    return Math.max(1, Math.floor(left));
  }

  #wantsRenewal(heldLease: HeldLease, now: number): boolean {
    const { settings, since, renewAt, overlong, request } = heldLease;
    if (renewAt < Infinity || (overlong !== undefined && request.format.queue)) return true; // in another format, no lease is shortened
    if (!settings.renew) return this.#wantsToppingUp(heldLease, now);
    return settings.maxHold === Infinity || now < since + settings.maxHold;
  }

  /** A lease without renewal is extended once, to its ttl, if its first lease was shorter. */
  #wantsToppingUp({ since, ends, deadline }: HeldLease, now: number): boolean {
    return deadline - since < (ends - since) * 0.9 && deadline > now;
  }
}

/**
 * Leases that one command renews. While no lease of the batch changes, all have one wake-up, one list that the store encodes
 * once, and one answer that says how long they last.
 */
class RenewalBatch implements RenewalGroup {
  due: Due | undefined;
  nth = 0;
  /** Whether a request has no answer yet. A lease that is over keeps this object alone, and none of the other leases. */
  readonly renewal = { underWay: false };
  /** Whether the leases may stay together: all are renewed without end, at the same pace, by requests like this one. */
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
    this.#steady = heldLeases.every(({ settings, overlong, renewAt }) => {
      const isEndless = settings.renew && settings.maxHold === Infinity && settings.ttl === ttl;
      return isEndless && overlong === undefined && renewAt === Infinity;
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

/** During a downgrade a renewal may look in the wrong mode: 'not found' then proves nothing. */
function answerTo(
  request: LockRequest,
  heldLease: HeldLease,
  said: Extended = 'unknown',
): Extended {
  return typeof said === 'number' || heldLease.endsBy(request) ? said : 'unknown';
}

/** The next renewal is due when a third of the time left is over. */
function turnBefore(deadline: number, ttl: number, now: number, jitter = Math.random()): number {
  // `extend` or a server clock set back may put the deadline more than a ttl ahead: a loss is noticed in time all the same.
  const ahead = Math.min(deadline - now, ttl);
  const third = (ahead / 3) * (0.9 + jitter * 0.1);
  if (third > SHORT) return Math.floor((now + third) / BEAT) * BEAT;
  return Math.min(deadline, now + Math.max(SHORTEST_PAUSE, third));
}

/** The term that the server gave to all leases alike, if it did. */
function commonTerm({ sent, remaining: all }: Extension, asked: number): Term | undefined {
  const [remaining] = all;
  if (typeof remaining !== 'number' || remaining > asked + SLACK) return undefined;
  if (all.some((left) => left !== remaining)) return undefined;
  return { sent, remaining };
}

/** Groups leases by their ttl, so that each group can stay together; small groups are joined. */
function byPace(heldLeases: readonly HeldLease[]): HeldLease[][] {
  const paces = batchesOf(heldLeases, ({ settings }) => settings.ttl, Infinity);
  const groups = paces.map((places) => places.map((at) => heldLeases[at]!));
  const many = groups.filter(({ length }) => length >= WORTH_A_COMMAND);
  const few = groups.filter(({ length }) => length < WORTH_A_COMMAND).flat();
  return few.length > 0 ? [...many, few] : many;
}
