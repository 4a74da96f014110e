import { LockLimitError, LockNotAcquiredError, LockStoreError } from '../errors/index.js';
import type { Held } from '../locks/lock-primitive.js';
import { Holding, type Onward } from './holding.js';
import type { LineHost } from './line-host.js';
import { Place, type PlaceOwner } from './place.js';
import { Outage } from './outage.js';
import type { Due, Scheduled } from './schedule.js';
import { Slice } from './slice.js';
import type { Waiter } from './waiter.js';
import { WaiterList } from './waiter-list.js';
import { FIRST_LEASE } from './waiting-room.js';

/** The pause after an ask that failed before there was a place, in ms. */
const AFTER_FAILURE = 50;

/**
 * The callers of one process that wait for one lock, in order. They need one place in the store's queue
 * between them: who gives the lock back passes it on in memory, with a token of its own from those that
 * the grant reserved, until the slice is over; then the line queues again, behind other processes.
 */
export class Line implements PlaceOwner, Onward, Scheduled {
  /** Where the schedule of slices has it. */
  due: Due | undefined;
  readonly #waiters = new WaiterList();
  #place: Place | undefined;
  #holding: Holding | undefined;
  readonly #slice = new Slice();
  /** It has queued or held: who waits here waits an outage out. */
  #rooted = false;
  readonly #outage = new Outage();

  constructor(
    private readonly host: LineHost,
    readonly key: string,
    /** How many tokens a grant reserves; 0: this line is unfenced, 1: it passes nothing on. */
    private readonly tokens: number,
    /** Whether several callers may stand here. */
    readonly shared: boolean,
  ) {}

  /** Whether its grants have tokens. */
  get fenced(): boolean {
    return this.tokens > 0;
  }

  join(waiter: Waiter): void {
    this.#waiters.add(waiter);
    if (!this.#place && !this.#holding) return this.#queue();
    this.#bound(waiter);
    this.#watchSlice();
  }

  /** A waiter goes before his turn. */
  abandon(waiter: Waiter, reason: unknown): void {
    this.#remove(waiter);
    if (!this.#waiters.first) {
      this.#place?.leave();
      this.#place = undefined;
    }
    waiter.fail(reason);
    this.#retire();
  }

  /** Nobody waits here any more; each is told why. */
  turnAway(reason: (key: string) => unknown): void {
    for (const waiter of this.#waiters) this.abandon(waiter, reason(this.key));
  }

  /** The bound of a waiter's call is reached. */
  expire(waiter: Waiter): void {
    const { failure } = this.#outage;
    this.abandon(waiter, failure ?? new LockNotAcquiredError(this.key, waiter.call.wait));
  }

  /** The holder stays longer than a slice: those behind him take a place in the store's queue. */
  overstayed(): void {
    if (!this.#place && this.#waiters.first) this.#queue();
  }

  granted(place: Place, grant: Omit<Held, 'kind'>): void {
    const { clock } = this.host;
    this.#place = undefined;
    this.#recovered();
    const waiter = this.#waiters.first!;
    this.#slice.begin(clock.monotonic(), grant.tokens);
    // The place may have been taken for another, who has left.
    const remaining = Math.min(grant.remaining, waiter.call.ttl);
    const { claim, trail } = place;
    const holding = new Holding(claim, waiter.call, { ...grant, remaining }, trail, clock, this);
    this.#admit(waiter, holding);
  }

  queued(): void {
    const first = !this.#place!.seated;
    const failed = this.#recovered();
    if (first || failed) for (const waiter of this.#waiters) this.#bound(waiter);
  }

  refused(_place: Place, why: 'busy' | 'full'): void {
    this.#place = undefined;
    const { waitersPerKey } = this.host.settings.limits;
    this.turnAway((key) =>
      why === 'busy'
        ? new LockNotAcquiredError(key, 0)
        : new LockLimitError(key, 'waitersPerKey', waitersPerKey),
    );
  }

  missed(place: Place): void {
    this.#place = undefined;
    this.#outage.misses(place.claim, this.host.clock.monotonic());
    for (const waiter of this.#waiters) this.#bound(waiter, this.host.settings.commandTimeout);
    this.#queue();
  }

  failed(place: Place, error: unknown): void {
    if (!(error instanceof LockStoreError) || !error.retryable) return this.turnAway(() => error);
    this.#outage.fails(error, this.host.clock.monotonic());
    const now = this.host.clock.monotonic();
    if (this.#rooted) {
      if (now >= this.#outage.since + this.host.settings.outageWait) this.turnAway(() => error);
    } else {
      for (const waiter of this.#waiters) {
        const patience = waiter.startedAt + this.host.settings.commandTimeout;
        if (now >= patience) this.abandon(waiter, error);
        else this.host.bounds.set(waiter, patience);
      }
    }
    if (place.seated) this.host.room(place.claim).failed();
    else if (this.#place) this.host.clock.after(AFTER_FAILURE, () => place.ask());
  }

  /** Passes the lease to the next of the line, in memory; false if the store has to be told. */
  passOn(holding: Holding): boolean {
    const heir = this.#heirOf(holding);
    if (!heir || !this.shared) return false;
    const now = this.host.clock.monotonic();
    const left = holding.deadline - now;
    if (left < Math.min(heir.call.ttl, FIRST_LEASE) / 2 || left > heir.call.ttl) return false;
    if (!this.#slice.take(now, this.fenced)) return false;
    this.#admit(heir, holding.heir(heir.call));
    return true;
  }

  /** Gives the lease back in the step in which the line queues again; undefined if nobody waits or a place does. */
  giveBack(holding: Holding): Promise<boolean> | undefined {
    return this.#heirOf(holding) && this.#newPlace().askGivingBack(holding.claim);
  }

  /** Who comes next, unless a place waits for him or the lease stays taken for a while. */
  #heirOf(holding: Holding): Waiter | undefined {
    if (this.#place || holding !== this.#holding || holding.settings.minHold > 0) return undefined;
    return this.#waiters.first;
  }

  /** The lease is over, whatever way: who still waits needs a place. */
  ended(holding: Holding): void {
    if (holding !== this.#holding) return;
    this.#holding = undefined;
    if (!this.#place && this.#waiters.first) this.#queue();
    this.#retire();
  }

  #queue(): void {
    this.#newPlace().ask();
  }

  #newPlace(): Place {
    const { ttl, wait, share, dialect } = this.#waiters.first!.call;
    const { key, tokens } = this;
    const claim = { key, holder: this.host.newHolderId(), ttl, tokens, share, dialect };
    this.#place = new Place(this.host, this, claim, wait > 0);
    return this.#place;
  }

  #admit(waiter: Waiter, holding: Holding): void {
    this.#remove(waiter);
    this.#holding = holding;
    waiter.enter(this.host.enter(holding));
    this.#watchSlice();
  }

  #remove(waiter: Waiter): void {
    this.#waiters.remove(waiter);
    this.host.gone(waiter);
  }

  #bound(waiter: Waiter, least = 0): void {
    const wait = Math.max(least, waiter.call.wait);
    if (wait !== Infinity) this.host.bounds.set(waiter, waiter.startedAt + wait);
  }

  #watchSlice(): void {
    if (this.#holding && !this.#place && this.#waiters.first) {
      this.host.slices.set(this, this.#slice.overstayedAt);
    }
  }

  #recovered(): boolean {
    this.#rooted = true;
    return this.#outage.end();
  }

  #retire(): void {
    if (this.#waiters.first || this.#place || this.#holding) return;
    this.host.slices.delete(this);
    this.host.retire(this);
  }
}
