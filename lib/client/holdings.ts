import type { LockStoreError, LossReason } from '../errors/index.js';
import type { Extended, LockPrimitive } from '../locks/lock-primitive.js';
import { type Clock, type Duration, milliseconds, READER, TTL_BOUNDS } from '../options/index.js';
import type { Departures } from './departures.js';
import { readHandOver, writeHandOver } from './hand-over.js';
import type { Holding } from './holding.js';
import { mayHaveRun } from './retry.js';
import { TurnoverMap } from './turnover-map.js';
import { Watchdog } from './watchdog.js';

/** All that this process holds: renewed, told when it is lost, given back. */
export class Holdings {
  readonly #held = new TurnoverMap<Holding>();
  readonly #watchdog: Watchdog;
  /** Steps by which a lease comes or goes, and whose answers are awaited. */
  #underWay = 0;
  #closed = false;
  readonly #whenIdle: (() => void)[] = [];

  constructor(
    private readonly lock: LockPrimitive,
    private readonly clock: Clock,
    private readonly departures: Departures,
    /** Told of renewals that the store refuses for good. */
    refused: (error: LockStoreError) => void = () => {},
  ) {
    this.#watchdog = new Watchdog(
      lock,
      clock,
      (holding, reason) => this.#lose(holding, reason),
      refused,
    );
  }

  get size(): number {
    return this.#held.size;
  }

  get watched(): number {
    return this.#watchdog.watched;
  }

  /** Resolves when nothing is held, and nothing is under way by which a lease comes or goes. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#checkIdle();
    });
  }

  /** Adds what is on its way here. */
  async bring(coming: Promise<Holding>): Promise<Holding> {
    this.#underWay += 1;
    try {
      const holding = await coming;
      this.add(holding);
      return holding;
    } finally {
      this.#answered();
    }
  }

  has(holder: string): boolean {
    return this.#held.has(holder);
  }

  /** What comes after everything was taken is taken at once. */
  add(holding: Holding): void {
    this.#held.set(holding.request.holder, holding);
    this.#watchdog.watch(holding);
    if (this.#closed) this.#takeBack(holding);
  }

  /** Asks the server whether this is still held. */
  verify(holding: Holding): void {
    this.#watchdog.verify([holding]);
  }

  verifyAll(): void {
    this.#watchdog.verify(this.#held.values());
  }

  /** Somebody says that an operator took the lock: ask. */
  forced(holder: string): void {
    const holding = this.#held.get(holder);
    if (!holding) return;
    holding.suspected = 'forced';
    this.verify(holding);
  }

  async extend(holding: Holding, ttl: Duration | undefined): Promise<void> {
    const { request, settings } = holding;
    const ms = ttl === undefined ? settings.ttl : milliseconds('ttl', ttl, TTL_BOUNDS);
    let left: Extended | undefined;
    for (;;) {
      const { sent, remaining } = await holding.trail.during(() =>
        this.lock.extend([{ ...request, ttl: ms }]),
      );
      [left] = remaining;
      if (holding.state !== 'held' || typeof left !== 'number') break;
      holding.confirm({ sent, remaining: left });
      this.#watchdog.watch(holding);
      if (holding.held) return;
      if (!holding.inDoubt) break; // what was asked for was over before the answer came
    } // the machine slept while the answer was on its way
    if (holding.state === 'held') this.#lose(holding, left === 'taken' ? 'taken' : 'gone');
    throw holding.lossError();
  }

  /** Its holder awaits a condition: it is neither renewed nor given back by anybody else. */
  park(holding: Holding): void {
    holding.park();
    this.#forget(holding);
  }

  /** The store says that the lock was not its holder's any more. */
  refused(holding: Holding, now: 'taken' | 'free'): void {
    this.#lose(holding, holding.suspected ?? (now === 'taken' ? 'taken' : 'gone'));
  }

  /** It was not given back after all: it is now, if nobody has it any more. */
  keep(holding: Holding): void {
    holding.keep();
    this.add(holding);
    if (holding.holds === 0) void this.release(holding);
  }

  /** Nobody knows whether it was given back. */
  giveUp(holding: Holding): void {
    this.departures.leave(holding.request, holding.trail);
  }

  /** Others may share what was held alone. */
  async downgrade(holding: Holding): Promise<void> {
    const { request } = holding;
    if (request.share) return;
    let reason: LossReason = 'unconfirmed';
    holding.request = { ...request, share: READER }; // what is sent from now on runs after the downgrade
    try {
      const done = await holding.trail.during(() => this.lock.downgrade(request));
      if (done && holding.state === 'held') return holding.successors?.ended(holding);
      reason = 'gone';
    } catch (error) {
      if (!mayHaveRun(error)) {
        if (holding.state === 'held') holding.request = request;
        else this.departures.leave(request, holding.trail); // it was given back as what it did not become
        throw error;
      }
    }
    if (holding.state === 'held') this.#lose(holding, holding.suspected ?? reason);
    this.departures.leave(request, holding.trail);
    throw holding.lossError();
  }

  /** It ends here; who has the text goes on with it. */
  async handOver(holding: Holding): Promise<string> {
    const { request, trail, successors } = holding;
    const text = writeHandOver(holding, this.clock.monotonic());
    const onTheWay = readHandOver(text).request;
    holding.close();
    this.#forget(holding);
    this.#underWay += 1;
    let remaining: Extended = 'unknown';
    try {
      ({ remaining } = await this.lock.transfer(request, onTheWay));
    } catch (error) {
      if (!mayHaveRun(error)) {
        this.keep(holding);
        throw error;
      }
    } finally {
      this.#answered();
    }
    if (typeof remaining === 'number') {
      holding.lose('transferred');
      successors?.ended(holding);
      if (trail.isUncertain(this.clock)) this.departures.leave(request, trail);
      return text;
    }
    const reason = { taken: 'taken', free: 'gone', unknown: 'unconfirmed' } as const;
    this.#lose(holding, holding.suspected ?? reason[remaining]);
    const leave = (): Promise<unknown> =>
      this.lock.leave(request).then(() => this.lock.leave(onTheWay)); // in this order no late answer brings it back
    if (remaining === 'unknown') this.departures.start(leave, trail, request.ttl);
    throw holding.lossError();
  }

  release(holding: Holding): Promise<boolean> {
    if (holding.state !== 'held') return Promise.resolve(false);
    const { standing, request, trail, successors } = holding; // doubtful: what the server says counts
    const alone = !trail.any;
    holding.close();
    this.#forget(holding);
    if (standing === 'held' && alone && successors?.handOffLocally(holding)) {
      holding.end();
      return Promise.resolve(true);
    }
    this.#underWay += 1;
    const served = successors?.takeServed();
    const release = (): Promise<boolean> => this.lock.release(request, holding.leastLeft, served);
    const released = (alone && successors?.giveBackQueueing(holding)) || release();
    successors?.ended(holding);
    return released.then(
      (ours) => {
        const inTime = ours && standing !== 'over';
        holding.end(inTime ? undefined : standing === 'held' ? 'gone' : 'expired');
        if (trail.isUncertain(this.clock)) this.departures.leave(request, trail);
        this.#answered();
        return inTime;
      },
      () => {
        holding.end(standing === 'held' ? undefined : 'expired');
        const leave = (): Promise<unknown> => release().then(() => this.lock.leave(request));
        this.departures.start(leave, trail, request.ttl);
        this.#answered();
        return standing === 'held';
      },
    );
  }

  /** Begins to give everything back; whoever still works under it is told. Of which locks. */
  releaseAll(): string[] {
    this.#closed = true;
    const held = [...this.#held.values()];
    for (const holding of held) this.#takeBack(holding);
    this.#watchdog.stop();
    return held.map(({ request }) => request.key);
  }

  #takeBack(holding: Holding): void {
    void this.release(holding);
    holding.lose('shutdown');
  }

  #lose(holding: Holding, reason: LossReason): void {
    this.#forget(holding);
    holding.lose(reason);
    holding.successors?.ended(holding);
    this.departures.leave(holding.request, holding.trail); // a renewal under way could still lengthen it
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

  #forget(holding: Holding): void {
    this.#watchdog.forget(holding);
    const { holder } = holding.request;
    if (this.#held.get(holder) === holding) this.#held.delete(holder);
  }
}
