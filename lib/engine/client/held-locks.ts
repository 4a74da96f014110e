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
import { type HeldLock, LOSS } from './held-lock.js';
import { TurnoverMap } from './turnover-map.js';
import { Watchdog } from './watchdog.js';

/** All locks that this process holds: renews them, announces their loss, gives them back. */
export class HeldLocks {
  readonly #held = new TurnoverMap<HeldLock>();
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
    const lost = (heldLock: HeldLock, reason: LossReason): void => this.#lose(heldLock, reason);
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
  async bring(coming: Promise<HeldLock>): Promise<HeldLock> {
    this.#underWay += 1;
    this.#coming += 1;
    try {
      const heldLock = await coming;
      this.add(heldLock);
      return heldLock;
    } finally {
      this.#coming -= 1;
      this.#answered();
    }
  }

  /**
   * From now on it is renewed. After {@link releaseAll} it is given back at once instead. `waited`: how long its caller did, in
   * ms; `asked`: by which call it came; `before`: from which hold.
   */
  add(heldLock: HeldLock, waited = 0, asked?: AcquireTrace, before?: HoldTrace): void {
    this.#held.set(heldLock.request.holder, heldLock);
    this.#watchdog.watch(heldLock);
    this.#tell(heldLock, waited, asked, before);
    if (this.#closed) this.#takeBack(heldLock);
  }

  /** The call for several keys, which has `asked`, holds them all: its lease on each begins. */
  begin(heldLock: HeldLock, call: CallSettings, waited: number, asked?: AcquireTrace): void {
    heldLock.begin(call);
    this.#watchdog.watch(heldLock);
    this.#tell(heldLock, waited, asked);
  }

  #tell(held: HeldLock, waited: number, asked?: AcquireTrace, before?: HoldTrace): void {
    const isTold = asked !== undefined && !held.settings.untold;
    if (isTold || this.publisher.hearsHold(held.settings)) {
      this.publisher.hold(held, waited, asked, before);
    }
  }

  /** Asks the server whether these, or all, are still held. */
  verify(heldLocks: Iterable<HeldLock> = this.#held.values()): void {
    this.#watchdog.verify(heldLocks);
  }

  /** A push says that an operator took the lock: ask the server. */
  forced(holder: string): void {
    const heldLock = this.#held.get(holder);
    if (!heldLock) return;
    heldLock.suspect('forced');
    this.verify([heldLock]);
  }

  async extend(heldLock: HeldLock, ttl: Duration | undefined): Promise<void> {
    const ms = ttl === undefined ? heldLock.settings.ttl : milliseconds('ttl', ttl, TTL_BOUNDS);
    let left: Extended | undefined;
    for (;;) {
      const { request } = heldLock;
      const asked = heldLock.extension(heldLock.withinMaxHold(ms));
      const { sent, remaining } = await heldLock.claim.during(() => this.store.extend([asked]));
      [left] = remaining;
      if (heldLock.state !== 'held') break;
      if (typeof left !== 'number' && heldLock.endsBy(request)) break;
      if (typeof left !== 'number') continue; // it became a reader before that ran, or after
      heldLock.confirm({ sent, remaining: left }, asked.ttl);
      if (heldLock.overlong !== undefined) continue;
      this.#watchdog.watch(heldLock);
      if (heldLock.held) return;
      if (!heldLock.inDoubt) break; // what was asked for was over before the answer came
    } // the machine slept while the answer was on its way
    if (heldLock.state === 'held') this.#lose(heldLock, left === 'taken' ? 'taken' : 'gone');
    throw heldLock.lossError();
  }

  /** Its holder awaits a condition: it is neither renewed nor given back by anybody else. */
  beginAwaiting(heldLock: HeldLock): void {
    heldLock.beginAwaiting();
    this.#forget(heldLock);
    if (heldLock.trace) this.publisher.holdEnded(heldLock, 'awaiting');
  }

  /** Its holder awaited a condition, and does not get it back. */
  loseAwaited(heldLock: HeldLock, reason: LossReason): void {
    heldLock.lose(reason);
    this.publisher.holdEnded(heldLock, 'lost', reason);
  }

  /** The store says that the lock was not its holder's any more. */
  refused(heldLock: HeldLock, now: Lost): void {
    this.#lose(heldLock, LOSS[now]);
  }

  /** It was not given back after all: it is now, if nobody has it any more. */
  keep(heldLock: HeldLock): void {
    heldLock.keep();
    this.add(heldLock);
    if (heldLock.holds === 0) void this.release(heldLock);
  }

  /** Others may share what was held alone. */
  async downgrade(heldLock: HeldLock): Promise<void> {
    const { request, fencingToken, claim } = heldLock;
    if (request.share) return;
    let reason: LossReason = 'unconfirmed';
    const undo = heldLock.share();
    this.#watchdog.watch(heldLock); // apart from those that are still held alone
    try {
      const done = await claim.during(() => this.store.downgrade(request, fencingToken));
      if (done && heldLock.state === 'held') {
        heldLock.shared();
        heldLock.successors?.ended(heldLock);
        return this.#watchdog.watch(heldLock); // as that from now on
      }
      reason = 'gone';
    } catch (error) {
      if (!mayHaveRun(error)) {
        if (heldLock.state === 'held') undo();
        else this.cleanup.abandon(claim, () => this.store.leave(request)); // it was given back as what it did not become
        throw error;
      }
    }
    if (heldLock.state === 'held') this.#lose(heldLock, reason);
    const leave = (): Promise<unknown> =>
      this.store.leave(request).then(() => this.store.leave(heldLock.request)); // in this order no late downgrade leaves anything
    this.abandon(heldLock, leave);
    throw heldLock.lossError();
  }

  /** The lease ends here; the process that restores the text goes on with it. */
  async handOver(heldLock: HeldLock): Promise<string> {
    const { request, claim, successors } = heldLock;
    const text = writeHandOver(heldLock, this.clock.monotonic());
    const onTheWay = readHandOver(text).request;
    heldLock.close();
    this.#forget(heldLock);
    this.#underWay += 1;
    const { isUncertain } = claim;
    let remaining: Extended = 'unknown';
    try {
      ({ remaining } = await this.store.transfer(request, onTheWay));
    } catch (error) {
      if (!mayHaveRun(error)) {
        this.keep(heldLock);
        throw error;
      }
    } finally {
      this.#answered();
    }
    if (typeof remaining === 'number') {
      heldLock.lose('transferred');
      this.publisher.holdEnded(heldLock, 'handedOver', undefined, 'process');
      successors?.ended(heldLock);
      if (isUncertain) this.abandon(heldLock);
      return text;
    }
    this.#lose(heldLock, LOSS[remaining]);
    const leave = (): Promise<unknown> =>
      this.store.leave(request).then(() => this.store.leave(onTheWay)); // in this order no late answer brings it back
    if (remaining === 'unknown') this.abandon(heldLock, leave);
    throw heldLock.lossError();
  }

  /** Gives the lock to a caller of this process that waits for it, or back to the store. False if it was lost before. Rejects never. */
  release(heldLock: HeldLock): Promise<boolean> {
    if (heldLock.state !== 'held') return Promise.resolve(false);
    const { validity, request, claim, successors } = heldLock; // doubtful: what the server says counts
    const alone = !claim.any;
    heldLock.close();
    this.#forget(heldLock);
    if (validity === 'valid' && alone && successors?.handOffLocally(heldLock)) {
      heldLock.end();
      if (heldLock.trace) this.publisher.holdEnded(heldLock, 'released', undefined, 'local');
      return Promise.resolve(true);
    }
    this.#underWay += 1;
    const { isUncertain } = claim;
    const served = successors?.takeServed();
    const released =
      (alone && successors?.giveBackQueueing(heldLock)) ||
      this.store.release(request, heldLock.leastLeft, served);
    successors?.ended(heldLock);
    return released.then(
      (ours) => {
        const inTime = ours && validity !== 'expired';
        this.#end(heldLock, inTime ? undefined : validity === 'valid' ? 'gone' : 'expired');
        if (isUncertain || !ours) this.abandon(heldLock); // what was never granted may still wait
        if (!ours) this.cleanup.abandonServed(served); // the first of them may have been granted meanwhile
        this.#answered();
        return inTime;
      },
      () => {
        this.#end(heldLock, validity === 'valid' ? undefined : 'expired');
        this.abandon(heldLock, async () => {
          await this.store.release(request, heldLock.leastLeft, served);
          await this.cleanup.leave(claim);
        });
        this.#answered();
        return validity === 'valid';
      },
    );
  }

  /** Nothing is left under its holder id, whatever is under way. */
  abandon(heldLock: HeldLock, leave?: () => Promise<unknown>): void {
    this.cleanup.abandon(heldLock.claim, leave, heldLock.lasts);
  }

  /** Begins to give everything back, and tells the code that still works under it. Returns the keys. */
  releaseAll(): string[] {
    this.#closed = true;
    const held = [...this.#held.values()];
    for (const heldLock of held) this.#takeBack(heldLock);
    this.#watchdog.stop();
    return held.map(({ request }) => request.key);
  }

  #takeBack(heldLock: HeldLock): void {
    heldLock.foretell('shutdown'); // who works under it is told before anybody else can have it
    if (heldLock.state !== 'held') return; // it was given back, or handed over, when it was told
    void this.release(heldLock);
    if (heldLock.lose('shutdown')) this.publisher.holdEnded(heldLock, 'lost', 'shutdown');
  }

  /** It was given back; `lost` says why that came too late, if it did. What was lost meanwhile has been told. */
  #end(heldLock: HeldLock, lost: LossReason | undefined): void {
    const isFirst = heldLock.state === 'closing';
    heldLock.end(lost);
    if (!isFirst) return;
    if (lost) this.publisher.holdEnded(heldLock, 'lost', heldLock.lossReason);
    else if (heldLock.trace) this.publisher.holdEnded(heldLock, 'released');
  }

  #lose(heldLock: HeldLock, reason: LossReason): void {
    this.#forget(heldLock);
    const isFirst = heldLock.lose(reason);
    heldLock.successors?.ended(heldLock);
    this.abandon(heldLock); // a renewal under way could still lengthen it
    if (isFirst) this.publisher.holdEnded(heldLock, 'lost', heldLock.lossReason);
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

  #forget(heldLock: HeldLock): void {
    this.#watchdog.forget(heldLock);
    const { holder } = heldLock.request;
    if (this.#held.get(holder) === heldLock) this.#held.delete(holder);
  }
}
