import { LeaseLostError, LockError, type LossReason } from '../../errors/index.js';
import type { AcquireTrace, HoldTrace, Publisher } from '../../events/index.js';
import type { LockRequest } from '../../locks/lock-request.js';
import type { Extended, LockStore } from '../../locks/lock-store.js';
import {
  type CallSettings,
  type Clock,
  type Duration,
  milliseconds,
  TTL_BOUNDS,
} from '../../options/index.js';
import { Claim, mayHaveRun } from './claim.js';
import type { Cleanup, OnRefused } from './cleanup.js';
import { readHandOver, timeOnTheWay, writeHandOver } from './hand-over.js';
import { type HeldLease, LOSS } from './held-lease.js';
import { ChurnMap } from './churn-map.js';
import { Watchdog } from './watchdog.js';

/** All leases that this process holds: it renews them, announces their loss, and gives them back. */
export class LeaseRegistry {
  readonly #held = new ChurnMap<HeldLease>();
  readonly #watchdog: Watchdog;
  /** Steps under way by which a lease comes or goes. */
  #underWay = 0;
  /** Restored leases that are on their way here. */
  #coming = 0;
  #closed = false;
  readonly #whenIdle: (() => void)[] = [];

  constructor(
    private readonly store: LockStore,
    private readonly clock: Clock,
    private readonly cleanup: Cleanup,
    onRefused: OnRefused,
    readonly publisher: Publisher,
  ) {
    const lost = (heldLease: HeldLease, reason: LossReason): void => this.lose(heldLease, reason);
    this.#watchdog = new Watchdog(store, clock, lost, onRefused, publisher);
  }

  get size(): number {
    return this.#held.size;
  }

  /** How many leases this process holds or is about to hold: a restored lease is nowhere else any more. */
  get claimed(): number {
    return this.#held.size + this.#coming;
  }

  get watched(): number {
    return this.#watchdog.watched;
  }

  /** The shortest ttl of the renewed leases, or `ttl` if that is shorter; in ms. The renewal of others cannot come too late. */
  shortestTtl(ttl: number): number {
    let shortest = ttl;
    for (const { settings } of this.#held.values()) {
      if (settings.renew) shortest = Math.min(shortest, settings.ttl);
    }
    return shortest;
  }

  /** Resolves when no lease is held, and no step is under way by which one comes or goes. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#checkIdle();
    });
  }

  /** Adds a restored lease when it arrives. */
  async addWhenGranted(coming: Promise<HeldLease>): Promise<HeldLease> {
    this.#coming += 1;
    return this.during(async () => {
      try {
        const heldLease = await coming;
        this.add(heldLease);
        return heldLease;
      } finally {
        this.#coming -= 1;
      }
    });
  }

  /** Runs a step by which leases come or go: a process that closes waits for it. */
  async during<Answer>(step: () => Promise<Answer>): Promise<Answer> {
    this.#underWay += 1;
    return step().finally(() => this.#answered());
  }

  /**
   * Adds a lease, which is renewed from now on. After {@link releaseAll} it is given back at once instead. `waited`: how
   * long its caller waited, in ms; `asked`: the call that acquired it; `before`: the hold that handed it off.
   */
  add(heldLease: HeldLease, waited = 0, asked?: AcquireTrace, before?: HoldTrace): void {
    this.#held.set(heldLease.request.holder, heldLease);
    this.#watchdog.watch(heldLease);
    this.#tell(heldLease, waited, asked, before);
    if (this.#closed) this.#takeBack(heldLease);
  }

  /** The call for several keys (`asked`) holds them all: its lease on each begins. */
  begin(heldLease: HeldLease, call: CallSettings, waited: number, asked?: AcquireTrace): void {
    heldLease.begin(call);
    this.#watchdog.watch(heldLease);
    this.#tell(heldLease, waited, asked);
  }

  #tell(held: HeldLease, waited: number, asked?: AcquireTrace, before?: HoldTrace): void {
    const isTold = asked !== undefined && !held.settings.untold;
    if (isTold || this.publisher.hearsHold(held.settings)) {
      this.publisher.hold(held, waited, asked, before);
    }
  }

  /** Asks the server whether these leases, or all, are still held. */
  verify(heldLeases: Iterable<HeldLease> = this.#held.values()): void {
    this.#watchdog.renew(heldLeases);
  }

  /** A push says that an operator took the lock: the server is asked. */
  forced(holder: string): void {
    const heldLease = this.#held.get(holder);
    if (!heldLease) return;
    heldLease.suspect('forced');
    this.verify([heldLease]);
  }

  async extend(heldLease: HeldLease, ttl: Duration | undefined): Promise<void> {
    const ms = ttl === undefined ? heldLease.settings.ttl : milliseconds('ttl', ttl, TTL_BOUNDS);
    let left: Extended | undefined;
    for (;;) {
      const { request } = heldLease;
      const asked = heldLease.extension(heldLease.withinMaxHold(ms));
      const { sent, remaining } = await heldLease.claim.during(() => this.store.extend([asked]));
      [left] = remaining;
      if (heldLease.state !== 'held') break;
      if (typeof left !== 'number' && heldLease.endsBy(request)) break;
      if (typeof left !== 'number') continue; // a downgrade changed the request, before or after this extension ran
      heldLease.confirm({ sent, remaining: left }, asked);
      if (heldLease.overlong !== undefined) continue;
      this.#watchdog.watch(heldLease);
      if (heldLease.held) return;
      if (!heldLease.inDoubt) break; // the extension was over before its answer came
    } // the machine slept meanwhile, so the lease is in doubt: it is extended again
    if (heldLease.state === 'held') this.lose(heldLease, left === 'taken' ? 'taken' : 'gone');
    throw heldLease.lossError();
  }

  /** The holder begins to await a condition: the lease is not renewed, and nobody else gives it back. */
  beginAwaiting(heldLease: HeldLease): void {
    heldLease.beginAwaiting();
    this.#forget(heldLease);
    if (heldLease.trace) this.publisher.holdEnded(heldLease, 'awaiting');
  }

  /** The holder awaited a condition, and does not get the lock back. */
  loseAwaited(heldLease: HeldLease, reason: LossReason): void {
    heldLease.lose(reason);
    this.publisher.holdEnded(heldLease, 'lost', reason);
  }

  /** The lease was not given back after all: it is held again, or released if no caller has it any more. */
  undoRelease(heldLease: HeldLease): void {
    heldLease.undoRelease();
    this.add(heldLease);
    if (heldLease.leases === 0) void this.release(heldLease);
  }

  /** Turns an exclusive lease into a shared one. */
  async downgrade(heldLease: HeldLease): Promise<void> {
    const { request, fencingToken, claim } = heldLease;
    if (request.share) return;
    let reason: LossReason = 'unconfirmed';
    const undo = heldLease.share();
    this.#watchdog.watch(heldLease); // from here on, the lease is not renewed together with exclusive ones
    try {
      const done = await claim.during(() => this.store.downgrade(request, fencingToken));
      if (done && heldLease.state === 'held') {
        heldLease.shared();
        heldLease.handOffTarget?.ended(heldLease);
        return this.#watchdog.watch(heldLease); // from here on, the lease is renewed with shared ones
      }
      reason = 'gone';
    } catch (error) {
      if (!mayHaveRun(error)) {
        if (heldLease.state === 'held') undo();
        else this.abandon(heldLease, () => this.store.leave(request)); // the lease's request says shared, but no downgrade ran: the exclusive holder leaves
        throw error;
      }
    }
    if (heldLease.state === 'held') this.lose(heldLease, reason);
    const leave = (): Promise<unknown> =>
      this.store.leave(request).then(() => this.store.leave(heldLease.request)); // the exclusive holder leaves first, so that a late downgrade finds nothing to share
    this.abandon(heldLease, leave);
    throw heldLease.lossError();
  }

  /**
   * The leases end here; the process that restores the text goes on with them. Where some cannot be handed over, the others are
   * given back.
   */
  async handOver(heldLeases: readonly HeldLease[]): Promise<string> {
    const text = writeHandOver(heldLeases, this.clock.monotonic());
    const parts = readHandOver(text).map(({ request }) => request);
    const transfers = heldLeases.map((each, nth) => this.#transfer(each, parts[nth]!));
    const outcomes = await Promise.allSettled(transfers);
    const failures = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (failures.length === 0) return text;
    const [first] = failures;
    const lost = failures.find((each) => each instanceof LeaseLostError);
    if (!lost && failures.length === heldLeases.length) throw first;
    outcomes.forEach(({ status }, nth) => {
      if (status === 'rejected') return void this.release(heldLeases[nth]!);
      const claim = new Claim(parts[nth]!, 0, this.clock);
      this.cleanup.abandon(claim, undefined, heldLeases[nth]!.lasts);
    });
    const cause = first instanceof LockError ? first : undefined;
    throw lost ?? new LeaseLostError(heldLeases[0]!.request.key, 'unconfirmed', undefined, cause);
  }

  /** Rejects where its lease is lost, or was not handed over and is held as before. */
  async #transfer(heldLease: HeldLease, onTheWay: LockRequest): Promise<void> {
    const { request, claim, handOffTarget } = heldLease;
    heldLease.close();
    this.#forget(heldLease);
    const { isUncertain } = claim;
    const ttl = timeOnTheWay(heldLease, this.clock.monotonic());
    let remaining: Extended = 'unknown';
    try {
      ({ remaining } = await this.store.transfer(request, { ...onTheWay, ttl }));
    } catch (error) {
      if (!mayHaveRun(error)) {
        this.undoRelease(heldLease);
        throw error;
      }
    }
    if (typeof remaining === 'number') {
      heldLease.lose('transferred');
      this.publisher.holdEnded(heldLease, 'handedOver', undefined, 'process');
      handOffTarget?.ended(heldLease);
      if (isUncertain) this.abandon(heldLease);
      else this.cleanup.ended(request);
      return;
    }
    this.lose(heldLease, LOSS[remaining]);
    const leave = (): Promise<unknown> =>
      this.store.leave(request).then(() => this.store.leave(onTheWay)); // the old holder leaves first, so that a late transfer finds nothing to hand over
    if (remaining === 'unknown') this.abandon(heldLease, leave);
    throw heldLease.lossError();
  }

  /** Hands the lock off to a caller of this process or gives it back to the store. False if it was lost. Never rejects. */
  release(heldLease: HeldLease): Promise<boolean> {
    if (heldLease.state !== 'held') return Promise.resolve(false);
    const { validity, request, claim, handOffTarget } = heldLease; // for a doubtful lease, the server's answer counts
    const alone = !claim.any;
    heldLease.close();
    this.#forget(heldLease);
    if (validity === 'valid' && alone && handOffTarget?.handOffLocally(heldLease)) {
      heldLease.end();
      if (heldLease.trace) this.publisher.holdEnded(heldLease, 'released', undefined, 'local');
      return Promise.resolve(true);
    }
    this.#underWay += 1;
    const { isUncertain } = claim;
    const served = handOffTarget?.takeServed();
    const released =
      (alone && handOffTarget?.giveBackQueueing(heldLease)) ||
      this.store.release(request, heldLease.leastLeft, served);
    handOffTarget?.ended(heldLease);
    return released.then(
      (ours) => {
        const inTime = ours && validity !== 'expired';
        this.#end(heldLease, inTime ? undefined : validity === 'valid' ? 'gone' : 'expired');
        if (isUncertain || !ours) this.abandon(heldLease); // a lock that was never granted may still be queued
        if (ours) this.cleanup.ended(request, served);
        else this.cleanup.abandonServed(served); // the first of these entries may have been granted meanwhile
        this.#answered();
        return inTime;
      },
      () => {
        this.#end(heldLease, validity === 'valid' ? undefined : 'expired');
        this.abandon(heldLease, async () => {
          await this.store.release(request, heldLease.leastLeft, served);
          await this.cleanup.leave(claim);
        });
        this.cleanup.abandonServed(served); // they may stay in the queue for longer than the lease lasts
        this.#answered();
        return validity === 'valid';
      },
    );
  }

  /** Leaves nothing under the holder id, whatever is under way. */
  abandon(heldLease: HeldLease, leave?: () => Promise<unknown>): void {
    this.cleanup.abandon(heldLease.claim, leave, heldLease.lasts);
  }

  /** Begins to give back all leases, and tells the code that runs under them. Returns the keys. */
  releaseAll(): string[] {
    this.#closed = true;
    const held = [...this.#held.values()];
    for (const heldLease of held) this.#takeBack(heldLease);
    this.#watchdog.stop();
    return held.map(({ request }) => request.key);
  }

  #takeBack(heldLease: HeldLease): void {
    heldLease.announceLoss('shutdown'); // the code under the lease is told before anybody else can have the lock
    if (heldLease.state !== 'held') return; // a listener gave the lease back, or handed it over
    void this.release(heldLease);
    if (heldLease.lose('shutdown')) this.publisher.holdEnded(heldLease, 'lost', 'shutdown');
  }

  /** Ends a lease that was given back; `lost` says why that came too late, if it did. A loss meanwhile has been told. */
  #end(heldLease: HeldLease, lost: LossReason | undefined): void {
    const isFirst = heldLease.state === 'closing';
    heldLease.end(lost);
    if (!isFirst) return;
    if (lost) this.publisher.holdEnded(heldLease, 'lost', heldLease.lossReason);
    else if (heldLease.trace) this.publisher.holdEnded(heldLease, 'released');
  }

  /** The lease is over before its holder gave it back. */
  lose(heldLease: HeldLease, reason: LossReason): void {
    this.#forget(heldLease);
    const isFirst = heldLease.lose(reason);
    heldLease.handOffTarget?.ended(heldLease);
    this.abandon(heldLease); // a renewal under way could still lengthen the lease
    if (isFirst) this.publisher.holdEnded(heldLease, 'lost', heldLease.lossReason);
    this.#checkIdle();
  }

  #answered(): void {
    this.#underWay -= 1;
    this.#checkIdle();
  }

  #checkIdle(): void {
    if (this.#whenIdle.length === 0 || this.#held.size > 0 || this.#underWay > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #forget(heldLease: HeldLease): void {
    this.#watchdog.forget(heldLease);
    const { holder } = heldLease.request;
    if (this.#held.get(holder) === heldLease) this.#held.delete(holder);
  }
}
