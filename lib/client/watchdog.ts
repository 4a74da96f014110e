import type { LossReason } from '../errors/index.js';
import type { Extended, Extension, LockStore } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { type Clock, type Moment, momentOf, partedSince } from '../options/index.js';
import { type HeldLock, LOSS } from './held-lock.js';
import { isRefused, type OnRefused } from './retry.js';
import { Schedule } from './timers.js';
import { readClocks } from './validity.js';

/** The shortest pause between two renewals of one lease, in ms. */
const SHORTEST_PAUSE = 10;
/** Renewals come in beats, in ms, so that many leases share a command; a short lease cannot wait for one. */
const BEAT = 25;
const SHORT = 10 * BEAT;

/**
 * Renews what is held at a third of the ttl, what is due in as few calls as its nodes allow, and finds when a lease is
 * lost: at once by the server's answer, at the deadline without one. A failed renewal is
 * tried again until then.
 */
export class Watchdog {
  readonly #schedule: Schedule<HeldLock>;

  constructor(
    private readonly store: LockStore,
    private readonly clock: Clock,
    private readonly lost: (heldLock: HeldLock, reason: LossReason) => void,
    private readonly onRefused: OnRefused,
  ) {
    this.#schedule = new Schedule(clock, (due) => this.#wake(due));
  }

  watch(heldLock: HeldLock): void {
    this.#watch(heldLock, this.clock.monotonic());
  }

  /** Stops before it returns: no renewal is sent for this lease any more. */
  forget(heldLock: HeldLock): void {
    this.#schedule.delete(heldLock);
  }

  /** Asks the server now whether these are still held. */
  verify(heldLocks: Iterable<HeldLock>): void {
    this.#renew([...heldLocks].filter(({ state }) => state === 'held'));
  }

  /** Watches nothing any more. */
  stop(): void {
    this.#schedule.stop();
  }

  get watched(): number {
    return this.#schedule.size;
  }

  #wake(due: HeldLock[]): void {
    const now = this.clock.monotonic();
    const renewable: HeldLock[] = [];
    for (const heldLock of due) {
      if (heldLock.state !== 'held') continue;
      if (now >= heldLock.deadline) this.lost(heldLock, 'expired');
      else if (!this.#wantsRenewal(heldLock, now)) this.#watch(heldLock, now);
      else renewable.push(heldLock);
    }
    this.#renew(renewable);
  }

  /** Each batch is settled when it is answered: a node that hangs holds up nothing that lives on another one. */
  #renew(due: HeldLock[]): void {
    const heldLocks = due.filter(({ inFlight }) => !inFlight.renewal);
    if (heldLocks.length === 0) return;
    for (const heldLock of heldLocks) {
      heldLock.inFlight.renewal = true;
      this.#schedule.set(heldLock, heldLock.deadline);
    }
    const requests = heldLocks.map((heldLock) => {
      const { request } = heldLock;
      const ttl = this.#wanted(heldLock);
      return request.ttl === ttl ? request : { ...request, ttl };
    });
    for (const batch of this.store.batches(requests)) {
      void this.#extend(
        batch.map((at) => heldLocks[at]!),
        batch.map((at) => requests[at]!),
      );
    }
  }

  async #extend(heldLocks: readonly HeldLock[], requests: readonly LockRequest[]): Promise<void> {
    let answer: Extension | undefined;
    try {
      answer = await this.store.extend(requests);
    } catch (error) {
      if (isRefused(error)) this.onRefused(error, 'renewal');
      for (const heldLock of heldLocks) heldLock.notRenewed(error);
      // The server may have renewed or not; the deadline we know stands, and we ask again before it.
    }
    const now = readClocks(this.clock);
    const slept: HeldLock[] = []; // the answer was on its way meanwhile
    heldLocks.forEach((heldLock, at) => {
      heldLock.inFlight.renewal = false;
      if (heldLock.state !== 'held') return;
      const remaining = answer?.remaining[at] ?? 'unknown';
      this.#settle(heldLock, answer?.sent, remaining, now.monotonic);
      if (remaining !== 'unknown' && heldLock.inDoubtAt(now)) slept.push(heldLock);
    });
    this.#renew(slept);
  }

  #settle(heldLock: HeldLock, sent: Moment | undefined, remaining: Extended, now: number): void {
    if (remaining === 'taken' || remaining === 'free') {
      this.lost(heldLock, LOSS[remaining]);
    } else if (remaining === 'unknown' || !sent) {
      const pause = Math.min(1_000, Math.max(SHORTEST_PAUSE, (heldLock.deadline - now) / 5));
      this.#schedule.set(heldLock, Math.min(now + pause, heldLock.deadline));
    } else {
      heldLock.renewed({ sent, remaining });
      this.#watch(heldLock, now);
    }
  }

  #watch(heldLock: HeldLock, now: number): void {
    this.#schedule.set(heldLock, this.#nextTurn(heldLock, now));
  }

  #nextTurn(heldLock: HeldLock, now: number): number {
    if (!this.#wantsRenewal(heldLock, now)) return heldLock.deadline;
    if (heldLock.renewAt < Infinity) return Math.min(heldLock.deadline, heldLock.renewAt);
    // A deadline may lie further ahead than a ttl, by `extend` or a server clock set back: loss is noticed in time all the same.
    const ahead = Math.min(heldLock.deadline - now, heldLock.settings.ttl);
    const third = (ahead / 3) * (0.9 + Math.random() * 0.1);
    if (third > SHORT) return Math.floor((now + third) / BEAT) * BEAT;
    return Math.min(heldLock.deadline, now + Math.max(SHORTEST_PAUSE, third));
  }

  /** How long a lease shall last from now on, in ms; one that is not renewed no longer than its ttl in all, on both clocks. */
  #wanted(heldLock: HeldLock): number {
    const { settings, since, sent, deadline } = heldLock;
    const { ttl, renew } = settings;
    if (renew) return ttl;
    const now = momentOf(this.clock);
    const end = Math.max(deadline, this.#wantsToppingUp(heldLock, now.monotonic) ? since + ttl : 0);
    const left = end - now.monotonic - Math.max(0, partedSince(sent, now));
    return Math.max(1, Math.floor(left));
  }

  #wantsRenewal(heldLock: HeldLock, now: number): boolean {
    const { settings, since, renewAt } = heldLock;
    if (renewAt < Infinity) return true;
    if (!settings.renew) return this.#wantsToppingUp(heldLock, now);
    return settings.maxHold === Infinity || now < since + settings.maxHold;
  }

  /** A lease that is not renewed is still topped up once to its ttl when its first lease was shorter. */
  #wantsToppingUp({ settings, since, deadline }: HeldLock, now: number): boolean {
    return deadline - since < settings.ttl * 0.9 && deadline > now;
  }
}
