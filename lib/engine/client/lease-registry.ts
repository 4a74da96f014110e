import type { LossReason } from '../errors/index.js';
import type { AcquireTrace, HoldTrace, Publisher } from '../events/index.js';
import type { Extended, LockStore, Lost } from '../locks/lock-store.js';
import {
  type CallSettings,
  type Clock,
  type Duration,
  milliseconds,
  TTL_BOUNDS,
} from '../options/index.js';
import { mayHaveRun } from './claim.js';
import type { Cleanup, OnRefused } from './cleanup.js';
import { readHandOver, writeHandOver } from './hand-over.js';
import { type HeldLease, LOSS } from './held-lease.js';
import { ChurnMap } from './churn-map.js';
import { Watchdog } from './watchdog.js';

/** All locks that this process holds: renews them, announces their loss, gives them back. */
export class LeaseRegistry {
  readonly #held = new ChurnMap<HeldLease>();
  readonly #watchdog: Watchdog;
  /** Steps by which a lease comes or goes, and whose answers are awaited. */
  #underWay = 0;
  /** Leases that are on their way here. */
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
    const lost = (heldLease: HeldLease, reason: LossReason): void => this.#lose(heldLease, reason);
    this.#watchdog = new Watchdog(store, clock, lost, onRefused, publisher);
  }

  get size(): number {
    return this.#held.size;
  }

  /** How many it holds, or has to: who is restored is nowhere else any more. */
  get claimed(): number {
    return this.#held.size + this.#coming;
  }

  get watched(): number {
    return this.#watchdog.watched;
  }

  /** The shortest ttl of what is renewed, or `ttl` if that is shorter; in ms. */
  shortestTtl(ttl: number): number {
    let shortest = ttl;
    for (const { renewedTtl } of this.#held.values()) shortest = Math.min(shortest, renewedTtl);
    return shortest;
  }

  /** Resolves when nothing is held, and nothing is under way by which a lease comes or goes. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#checkIdle();
    });
  }

  /** Adds what is on its way here. */
  async addWhenGranted(coming: Promise<HeldLease>): Promise<HeldLease> {
    this.#underWay += 1;
    this.#coming += 1;
    try {
      const heldLease = await coming;
      this.add(heldLease);
      return heldLease;
    } finally {
      this.#coming -= 1;
      this.#answered();
    }
  }

  /**
   * From now on it is renewed. After {@link releaseAll} it is given back at once instead. `waited`: how long its caller did, in
   * ms; `asked`: by which call it came; `before`: from which hold.
   */
  add(heldLease: HeldLease, waited = 0, asked?: AcquireTrace, before?: HoldTrace): void {
    this.#held.set(heldLease.request.holder, heldLease);
    this.#watchdog.watch(heldLease);
    this.#tell(heldLease, waited, asked, before);
    if (this.#closed) this.#takeBack(heldLease);
  }

  /** The call for several keys, which has `asked`, holds them all: its lease on each begins. */
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

  /** Asks the server whether these, or all, are still held. */
  verify(heldLeases: Iterable<HeldLease> = this.#held.values()): void {
    this.#watchdog.verify(heldLeases);
  }

  /** A push says that an operator took the lock: ask the server. */
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
      if (typeof left !== 'number') continue; // it became a reader before that ran, or after
      heldLease.confirm({ sent, remaining: left }, asked.ttl);
      if (heldLease.overlong !== undefined) continue;
      this.#watchdog.watch(heldLease);
      if (heldLease.held) return;
      if (!heldLease.inDoubt) break; // what was asked for was over before the answer came
    } // the machine slept while the answer was on its way
    if (heldLease.state === 'held') this.#lose(heldLease, left === 'taken' ? 'taken' : 'gone');
    throw heldLease.lossError();
  }

  /** Its holder awaits a condition: it is neither renewed nor given back by anybody else. */
  beginAwaiting(heldLease: HeldLease): void {
    heldLease.beginAwaiting();
    this.#forget(heldLease);
    if (heldLease.trace) this.publisher.holdEnded(heldLease, 'awaiting');
  }

  /** Its holder awaited a condition, and does not get it back. */
  loseAwaited(heldLease: HeldLease, reason: LossReason): void {
    heldLease.lose(reason);
    this.publisher.holdEnded(heldLease, 'lost', reason);
  }

  /** The store says that the lock was not its holder's any more. */
  refused(heldLease: HeldLease, now: Lost): void {
    this.#lose(heldLease, LOSS[now]);
  }

  /** It was not given back after all: it is now, if nobody has it any more. */
  undoRelease(heldLease: HeldLease): void {
    heldLease.undoRelease();
    this.add(heldLease);
    if (heldLease.leases === 0) void this.release(heldLease);
  }

  /** Others may share what was held alone. */
  async downgrade(heldLease: HeldLease): Promise<void> {
    const { request, fencingToken, claim } = heldLease;
    if (request.share) return;
    let reason: LossReason = 'unconfirmed';
    const undo = heldLease.share();
    this.#watchdog.watch(heldLease); // apart from those that are still held alone
    try {
      const done = await claim.during(() => this.store.downgrade(request, fencingToken));
      if (done && heldLease.state === 'held') {
        heldLease.shared();
        heldLease.handOffTarget?.ended(heldLease);
        return this.#watchdog.watch(heldLease); // as that from now on
      }
      reason = 'gone';
    } catch (error) {
      if (!mayHaveRun(error)) {
        if (heldLease.state === 'held') undo();
        else this.cleanup.abandon(claim, () => this.store.leave(request)); // it was given back as what it did not become
        throw error;
      }
    }
    if (heldLease.state === 'held') this.#lose(heldLease, reason);
    const leave = (): Promise<unknown> =>
      this.store.leave(request).then(() => this.store.leave(heldLease.request)); // in this order no late downgrade leaves anything
    this.abandon(heldLease, leave);
    throw heldLease.lossError();
  }

  /** The lease ends here; the process that restores the text goes on with it. */
  async handOver(heldLease: HeldLease): Promise<string> {
    const { request, claim, handOffTarget } = heldLease;
    const text = writeHandOver(heldLease, this.clock.monotonic());
    const onTheWay = readHandOver(text).request;
    heldLease.close();
    this.#forget(heldLease);
    this.#underWay += 1;
    const { isUncertain } = claim;
    let remaining: Extended = 'unknown';
    try {
      ({ remaining } = await this.store.transfer(request, onTheWay));
    } catch (error) {
      if (!mayHaveRun(error)) {
        this.undoRelease(heldLease);
        throw error;
      }
    } finally {
      this.#answered();
    }
    if (typeof remaining === 'number') {
      heldLease.lose('transferred');
      this.publisher.holdEnded(heldLease, 'handedOver', undefined, 'process');
      handOffTarget?.ended(heldLease);
      if (isUncertain) this.abandon(heldLease);
      return text;
    }
    this.#lose(heldLease, LOSS[remaining]);
    const leave = (): Promise<unknown> =>
      this.store.leave(request).then(() => this.store.leave(onTheWay)); // in this order no late answer brings it back
    if (remaining === 'unknown') this.abandon(heldLease, leave);
    throw heldLease.lossError();
  }

  /** Gives the lock to a caller of this process that waits for it, or back to the store. False if it was lost before. Rejects never. */
  release(heldLease: HeldLease): Promise<boolean> {
    if (heldLease.state !== 'held') return Promise.resolve(false);
    const { validity, request, claim, handOffTarget } = heldLease; // doubtful: what the server says counts
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
        if (isUncertain || !ours) this.abandon(heldLease); // what was never granted may still wait
        if (!ours) this.cleanup.abandonServed(served); // the first of them may have been granted meanwhile
        this.#answered();
        return inTime;
      },
      () => {
        this.#end(heldLease, validity === 'valid' ? undefined : 'expired');
        this.abandon(heldLease, async () => {
          await this.store.release(request, heldLease.leastLeft, served);
          await this.cleanup.leave(claim);
        });
        this.#answered();
        return validity === 'valid';
      },
    );
  }

  /** Nothing is left under its holder id, whatever is under way. */
  abandon(heldLease: HeldLease, leave?: () => Promise<unknown>): void {
    this.cleanup.abandon(heldLease.claim, leave, heldLease.lasts);
  }

  /** Begins to give everything back, and tells the code that still works under it. Returns the keys. */
  releaseAll(): string[] {
    this.#closed = true;
    const held = [...this.#held.values()];
    for (const heldLease of held) this.#takeBack(heldLease);
    this.#watchdog.stop();
    return held.map(({ request }) => request.key);
  }

  #takeBack(heldLease: HeldLease): void {
    heldLease.announceLoss('shutdown'); // who works under it is told before anybody else can have it
    if (heldLease.state !== 'held') return; // it was given back, or handed over, when it was told
    void this.release(heldLease);
    if (heldLease.lose('shutdown')) this.publisher.holdEnded(heldLease, 'lost', 'shutdown');
  }

  /** It was given back; `lost` says why that came too late, if it did. What was lost meanwhile has been told. */
  #end(heldLease: HeldLease, lost: LossReason | undefined): void {
    const isFirst = heldLease.state === 'closing';
    heldLease.end(lost);
    if (!isFirst) return;
    if (lost) this.publisher.holdEnded(heldLease, 'lost', heldLease.lossReason);
    else if (heldLease.trace) this.publisher.holdEnded(heldLease, 'released');
  }

  #lose(heldLease: HeldLease, reason: LossReason): void {
    this.#forget(heldLease);
    const isFirst = heldLease.lose(reason);
    heldLease.handOffTarget?.ended(heldLease);
    this.abandon(heldLease); // a renewal under way could still lengthen it
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
