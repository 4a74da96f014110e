import type { LossReason } from '../errors/index.js';
import type { Publisher } from '../events/index.js';
import { batchesOf } from '../locks/batches.js';
import type { Extended, Extension, LockStore } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { type Clock, type Moment, momentOf, partedSince } from '../options/index.js';
import { type HeldLease, LOSS, SLACK } from './held-lease.js';
import { RenewalBatch } from './renewal-batch.js';
import { isRefused } from './claim.js';
import type { OnRefused } from './cleanup.js';
import { Schedule } from './timers.js';
import { readClocks, type Term, validityAt } from '../locks/validity.js';

/** The shortest pause between two renewals of one lease, in ms. */
const SHORTEST_PAUSE = 10;
/** Renewals come in beats, in ms, so that many leases share a command; a short lease cannot wait for one. */
const BEAT = 25;
const SHORT = 10 * BEAT;
/** How many leases of one ttl are renewed apart from those of others. */
const WORTH_A_COMMAND = 8;

/**
 * Renews what is held at a third of the ttl, what is due in as few calls as its nodes allow, and finds when a lease is
 * lost: at once by the server's answer, at the deadline without one. A failed renewal is
 * tried again until then.
 */
export class Watchdog {
  /** Leases one by one, or in the batch in which they were renewed. */
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

  /** Stops before it returns: no renewal is sent for this lease any more. */
  forget(heldLease: HeldLease): void {
    const { group } = heldLease;
    if (!group) this.#schedule.delete(heldLease);
    else if (group.leave(heldLease)) this.#schedule.delete(group);
  }

  /** Asks the server now whether these are still held. */
  verify(heldLeases: Iterable<HeldLease>): void {
    this.#renew(heldLeases);
  }

  /** Watches nothing any more. */
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
    this.#renew(renewable);
  }

  /** What is due for a lease. */
  #sort(heldLease: HeldLease, now: number, renewable: HeldLease[]): void {
    if (heldLease.state !== 'held') return;
    if (now >= heldLease.deadline) this.lost(heldLease, 'expired');
    else if (!this.#wantsRenewal(heldLease, now)) this.#watch(heldLease, now);
    else renewable.push(heldLease);
  }

  /** Each batch is settled when it is answered: a node that hangs holds up nothing that lives on another one. */
  #renew(due: Iterable<HeldLease>): void {
    const heldLeases: HeldLease[] = [];
    for (const heldLease of due) {
      if (heldLease.state !== 'held') continue; // whoever heard that another one is lost gave it back
      heldLease.again = heldLease.claim.renews;
      if (!heldLease.again) heldLeases.push(heldLease);
      else {
        this.forget(heldLease);
        this.#schedule.set(heldLease, heldLease.deadline);
      }
    }
    for (const alike of byPace(heldLeases)) {
      const requests = alike.map((heldLease) => this.#requestOf(heldLease));
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
      // The server may have renewed or not; the deadline we know stands, and we ask again before it.
    }
    const now = readClocks(this.clock);
    const term = answer && commonTerm(answer, batch.requests[0]!.ttl);
    const stays = batch.answered(term) && validityAt(term!, now) === 'valid';
    if (stays) this.#goOn(batch, term!, now.monotonic);
    else this.#part(batch, answer, now);
  }

  /** All of them were renewed as they were: one object says so for all, and one turn is next. */
  #goOn(batch: RenewalBatch, term: Term, now: number): void {
    batch.heldLeases.forEach((heldLease, at) => heldLease.renewed(term, batch.requests[at]!.ttl));
    const { deadline } = batch;
    const { ttl } = batch.heldLeases[0]!.settings;
    this.#schedule.set(batch, turnBefore(deadline, ttl, now));
  }

  #part(batch: RenewalBatch, answer: Extension | undefined, now: Moment): void {
    this.#schedule.delete(batch);
    batch.dissolve();
    const again: HeldLease[] = [];
    const jitter = Math.random(); // the same for all, so that those of one deadline are renewed together again
    batch.heldLeases.forEach((heldLease, at) => {
      if (answer?.remaining[at] === 'unknown') this.#notRenewed(heldLease, undefined);
      if (heldLease.state !== 'held') return; // whoever heard of that may have given it back
      const request = batch.requests[at]!;
      const remaining = answerTo(request, heldLease, answer?.remaining[at]);
      this.#settle(heldLease, answer?.sent, remaining, request.ttl, now.monotonic, jitter);
      const { state, term, overlong } = heldLease;
      if (remaining === 'unknown' || state !== 'held') return;
      const slept = validityAt(term, now) === 'doubtful'; // while the answer was on its way
      if (slept || heldLease.again || overlong !== undefined) again.push(heldLease);
    });
    this.#renew(again);
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
    asked: number,
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
    this.#schedule.set(heldLease, this.#nextTurn(heldLease, now, jitter));
  }

  #nextTurn(heldLease: HeldLease, now: number, jitter: number): number {
    const { deadline, renewAt, settings } = heldLease;
    if (!this.#wantsRenewal(heldLease, now)) return deadline;
    if (renewAt < Infinity) return Math.min(deadline, renewAt);
    return turnBefore(deadline, settings.ttl, now, jitter);
  }

  #requestOf(heldLease: HeldLease): LockRequest {
    return heldLease.extension(this.#wanted(heldLease));
  }

  /**
   * How long a lease shall last from now on, in ms. One that is not renewed lasts no longer than its ttl in all, on both clocks;
   * one whose longest hold is over, no longer than it does.
   */
  #wanted(heldLease: HeldLease): number {
    const { settings, since, term, deadline } = heldLease;
    const { ttl, renew, maxHold } = settings;
    if (renew && maxHold === Infinity) return ttl;
    const now = momentOf(this.clock);
    if (renew && now.monotonic < since + maxHold) return ttl;
    const isShort = !renew && this.#wantsToppingUp(heldLease, now.monotonic);
    const end = Math.max(deadline, isShort ? since + ttl : 0);
    const left = end - now.monotonic - Math.max(0, partedSince(term.sent, now));
    return Math.max(1, Math.floor(left));
  }

  #wantsRenewal(heldLease: HeldLease, now: number): boolean {
    const { settings, since, renewAt } = heldLease;
    if (renewAt < Infinity) return true;
    if (!settings.renew) return this.#wantsToppingUp(heldLease, now);
    return settings.maxHold === Infinity || now < since + settings.maxHold;
  }

  /** A lease that is not renewed is still topped up once to its ttl when its first lease was shorter. */
  #wantsToppingUp({ settings, since, deadline }: HeldLease, now: number): boolean {
    return deadline - since < settings.ttl * 0.9 && deadline > now;
  }
}

/** Who is asked for as what it was, or will be, is not found: that says nothing. */
function answerTo(
  request: LockRequest,
  heldLease: HeldLease,
  said: Extended = 'unknown',
): Extended {
  return typeof said === 'number' || heldLease.endsBy(request) ? said : 'unknown';
}

/** A renewal is due when a third of what is left is over. */
function turnBefore(deadline: number, ttl: number, now: number, jitter = Math.random()): number {
  // A deadline may lie further ahead than a ttl, by `extend` or a server clock set back: loss is noticed in time all the same.
  const ahead = Math.min(deadline - now, ttl);
  const third = (ahead / 3) * (0.9 + jitter * 0.1);
  if (third > SHORT) return Math.floor((now + third) / BEAT) * BEAT;
  return Math.min(deadline, now + Math.max(SHORTEST_PAUSE, third));
}

/** What the server said of all alike, if it did. */
function commonTerm({ sent, remaining: all }: Extension, asked: number): Term | undefined {
  const [remaining] = all;
  if (typeof remaining !== 'number' || remaining > asked + SLACK) return undefined;
  if (all.some((left) => left !== remaining)) return undefined;
  return { sent, remaining };
}

/** Those that are renewed at one pace, so that they can stay together; a few of one pace go with others. */
function byPace(heldLeases: readonly HeldLease[]): HeldLease[][] {
  const paces = batchesOf(heldLeases, ({ settings }) => settings.ttl, Infinity);
  const groups = paces.map((places) => places.map((at) => heldLeases[at]!));
  const many = groups.filter(({ length }) => length >= WORTH_A_COMMAND);
  const few = groups.filter(({ length }) => length < WORTH_A_COMMAND).flat();
  return few.length > 0 ? [...many, few] : many;
}
