import type { LockStoreError, LossReason } from '../errors/index.js';
import type { Extended, Extension, LockPrimitive } from '../locks/lock-primitive.js';
import type { LockRequest } from '../locks/lock-request.js';
import { type Clock, type Moment, momentOf, partedSince } from '../options/index.js';
import type { Holding } from './holding.js';
import { isRefused } from './retry.js';
import { Schedule } from './schedule.js';
import { glanceAt } from './standing.js';

/** The shortest pause between two renewals of one lease, in ms. */
const SHORTEST_PAUSE = 10;
/** Renewals come in beats, in ms, so that many leases share a command; a short lease cannot wait for one. */
const BEAT = 25;
const SHORT = 10 * BEAT;

/**
 * Renews what is held at a third of the ttl, what is due in as few calls as its nodes allow, and says when a lease is
 * lost: at once when the server says so, at the deadline when it says nothing. A failed renewal is
 * tried again until then.
 */
export class Watchdog {
  readonly #schedule: Schedule<Holding>;

  constructor(
    private readonly lock: LockPrimitive,
    private readonly clock: Clock,
    private readonly lost: (holding: Holding, reason: LossReason) => void,
    /** Told of renewals that the store refuses for good. */
    private readonly refused: (error: LockStoreError) => void = () => {},
  ) {
    this.#schedule = new Schedule(clock, (due) => this.#wake(due));
  }

  watch(holding: Holding): void {
    this.#watch(holding, this.clock.monotonic());
  }

  /** Stops before it returns: no renewal is sent for this lease any more. */
  forget(holding: Holding): void {
    this.#schedule.delete(holding);
  }

  /** Asks the server now whether these are still held. */
  verify(holdings: Iterable<Holding>): void {
    this.#renew([...holdings].filter(({ state }) => state === 'held'));
  }

  /** Watches nothing any more. */
  stop(): void {
    this.#schedule.stop();
  }

  get watched(): number {
    return this.#schedule.size;
  }

  #wake(due: Holding[]): void {
    const now = this.clock.monotonic();
    const renewable: Holding[] = [];
    for (const holding of due) {
      if (holding.state !== 'held') continue;
      if (now >= holding.deadline) this.lost(holding, holding.suspected ?? 'expired');
      else if (!this.#wantsRenewal(holding, now)) this.#watch(holding, now);
      else renewable.push(holding);
    }
    this.#renew(renewable);
  }

  /** Each batch is settled when it is answered: a node that hangs holds up nothing that lives on another one. */
  #renew(due: Holding[]): void {
    const holdings = due.filter(({ trail }) => !trail.renewal);
    if (holdings.length === 0) return;
    for (const holding of holdings) {
      holding.trail.renewal = true;
      this.#schedule.set(holding, holding.deadline);
    }
    const requests = holdings.map((holding) => {
      const { request } = holding;
      const ttl = this.#wanted(holding);
      return request.ttl === ttl ? request : { ...request, ttl };
    });
    for (const batch of this.lock.batches(requests)) {
      void this.#extend(
        batch.map((at) => holdings[at]!),
        batch.map((at) => requests[at]!),
      );
    }
  }

  async #extend(holdings: readonly Holding[], requests: readonly LockRequest[]): Promise<void> {
    let answer: Extension | undefined;
    try {
      answer = await this.lock.extend(requests);
    } catch (error) {
      if (isRefused(error)) this.refused(error);
      // The server may have renewed or not; the deadline we know stands, and we ask again before it.
    }
    const now = glanceAt(this.clock);
    const slept: Holding[] = []; // the answer was on its way meanwhile
    holdings.forEach((holding, at) => {
      holding.trail.renewal = false;
      if (holding.state !== 'held') return;
      const remaining = answer?.remaining[at] ?? 'unknown';
      this.#settle(holding, answer?.sent, remaining, now.monotonic);
      if (remaining !== 'unknown' && holding.inDoubtAt(now)) slept.push(holding);
    });
    this.#renew(slept);
  }

  #settle(holding: Holding, sent: Moment | undefined, remaining: Extended, now: number): void {
    if (remaining === 'taken' || remaining === 'free') {
      this.lost(holding, holding.suspected ?? (remaining === 'taken' ? 'taken' : 'gone'));
    } else if (remaining === 'unknown' || !sent) {
      const pause = Math.min(1_000, Math.max(SHORTEST_PAUSE, (holding.deadline - now) / 5));
      this.#schedule.set(holding, Math.min(now + pause, holding.deadline));
    } else {
      holding.suspected = undefined;
      holding.renewAt = Infinity;
      holding.confirm({ sent, remaining });
      this.#watch(holding, now);
    }
  }

  #watch(holding: Holding, now: number): void {
    this.#schedule.set(holding, this.#nextTurn(holding, now));
  }

  #nextTurn(holding: Holding, now: number): number {
    if (!this.#wantsRenewal(holding, now)) return holding.deadline;
    if (holding.renewAt < Infinity) return Math.min(holding.deadline, holding.renewAt);
    // A deadline may lie further ahead than a ttl, by `extend` or a server clock set back: loss is noticed in time all the same.
    const ahead = Math.min(holding.deadline - now, holding.settings.ttl);
    const third = (ahead / 3) * (0.9 + Math.random() * 0.1);
    if (third > SHORT) return Math.floor((now + third) / BEAT) * BEAT;
    return Math.min(holding.deadline, now + Math.max(SHORTEST_PAUSE, third));
  }

  /** How long a lease shall last from now on, in ms; one that is not renewed no longer than its ttl in all, on both clocks. */
  #wanted(holding: Holding): number {
    const { settings, since, sent, deadline } = holding;
    const { ttl, renew } = settings;
    if (renew) return ttl;
    const now = momentOf(this.clock);
    const end = Math.max(deadline, this.#wantsToppingUp(holding, now.monotonic) ? since + ttl : 0);
    const left = end - now.monotonic - Math.max(0, partedSince(sent, now));
    return Math.max(1, Math.floor(left));
  }

  #wantsRenewal(holding: Holding, now: number): boolean {
    const { settings, since, renewAt } = holding;
    if (renewAt < Infinity) return true;
    if (!settings.renew) return this.#wantsToppingUp(holding, now);
    return settings.maxHold === Infinity || now < since + settings.maxHold;
  }

  /** A lease that is not renewed is still topped up once to its ttl when its first lease was shorter. */
  #wantsToppingUp({ settings, since, deadline }: Holding, now: number): boolean {
    return deadline - since < settings.ttl * 0.9 && deadline > now;
  }
}
