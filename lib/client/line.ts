import { LockLimitError, LockNotAcquiredError, LockStoreError } from '../errors/index.js';
import { permitsOf } from '../options/index.js';
import type { Grant } from '../locks/grant.js';
import type { Refusal } from '../locks/lock-primitive.js';
import { FIRST_LEASE } from '../protocol/constants.js';
import { Holding, type Onward } from './holding.js';
import type { LineHost } from './line-host.js';
import { Place, type PlaceOwner } from './place.js';
import { Outage } from './outage.js';
import type { Due, Scheduled } from './schedule.js';
import { Slice } from './slice.js';
import type { Waiter } from './waiter.js';
import { WaiterList } from './waiter-list.js';

/** The pause after an ask that failed before there was a place, in ms. */
const AFTER_FAILURE = 50;

/** How many tokens the first grant to a line reserves: most come alone, and tokens in blocks may not outrun the clock. */
export const FIRST_BLOCK = 16;

/** Callers of one process that wait for one lock behind one place in the store's queue, in order. */
export abstract class Line implements PlaceOwner, Onward, Scheduled {
  /** Where the schedule of slices has it. */
  due: Due | undefined;
  nth = 0;
  protected readonly waiters = new WaiterList();
  protected place: Place | undefined;
  protected holding: Holding | undefined;
  protected slice = new Slice();
  /** It has queued or held: who waits here waits an outage out. */
  #rooted = false;
  readonly #outage = new Outage();

  constructor(
    protected readonly host: LineHost,
    readonly key: string,
    /** How many tokens a grant reserves for the line itself; 0: it is unfenced. */
    protected readonly tokens: number,
  ) {}

  /** The holder stays longer than a slice. */
  abstract overstayed(): void;
  /** Has that looked for, where it matters. */
  protected abstract watchSlice(): void;
  abstract passOn(holding: Holding): boolean;

  /** Whether its grants have tokens. */
  get fenced(): boolean {
    return this.tokens > 0;
  }

  join(waiter: Waiter): void {
    this.waiters.add(waiter);
    if (!this.place && !this.holding) return this.queue();
    this.#bound(waiter);
    this.watchSlice();
  }

  /** A waiter goes before his turn. */
  abandon(waiter: Waiter, reason: unknown): void {
    this.#remove(waiter);
    if (!this.waiters.first) {
      this.place?.leave();
      this.place = undefined;
    }
    waiter.fail(reason);
    this.retire();
  }

  /** Nobody waits here any more; each is told why. */
  turnAway(reason: (key: string) => unknown): void {
    for (const waiter of this.waiters) this.abandon(waiter, reason(this.key));
  }

  /** The bound of a waiter's call is reached. */
  expire(waiter: Waiter): void {
    const { failure } = this.#outage;
    const { wait, share } = waiter.call;
    const waited = Math.round(this.host.clock.monotonic() - waiter.startedAt);
    this.abandon(
      waiter,
      failure ?? new LockNotAcquiredError(this.key, waited, wait, permitsOf(share)),
    );
  }

  granted(place: Place, grant: Grant): void {
    const { clock } = this.host;
    this.place = undefined;
    this.recovered();
    const waiter = this.waiters.first!;
    this.slice.begin(clock.monotonic(), grant.tokens, grant.run);
    // The place may have been taken for another, who has left.
    const remaining = Math.min(grant.remaining, waiter.call.ttl);
    const { request, trail } = place;
    const holding = new Holding(request, waiter.call, { ...grant, remaining }, trail, clock, this);
    this.admit(waiter, holding);
  }

  queued(): void {
    const first = !this.place!.seated;
    const failed = this.recovered();
    if (first || failed) for (const waiter of this.waiters) this.#bound(waiter);
  }

  refused({ request }: Place, why: Refusal): void {
    this.place = undefined;
    const { waitersPerKey } = this.host.settings.limits;
    this.turnAway((key) =>
      why === 'full'
        ? new LockLimitError(key, 'waitersPerKey', waitersPerKey)
        : new LockNotAcquiredError(key, 0, 0, permitsOf(request.share)),
    );
  }

  missed(place: Place): void {
    this.place = undefined;
    this.#outage.misses(place.request, this.host.clock.monotonic());
    for (const waiter of this.waiters) this.#bound(waiter, this.host.settings.commandTimeout);
    this.queue();
  }

  failed(place: Place, error: unknown): void {
    if (!(error instanceof LockStoreError) || !error.retryable) return this.turnAway(() => error);
    this.#outage.fails(error, this.host.clock.monotonic());
    const now = this.host.clock.monotonic();
    if (this.#rooted) {
      if (now >= this.#outage.since + this.host.settings.outageWait) this.turnAway(() => error);
    } else {
      for (const waiter of this.waiters) {
        const patience = waiter.startedAt + this.host.settings.commandTimeout;
        if (now >= patience) this.abandon(waiter, error);
        else this.host.bounds.set(waiter, patience);
      }
    }
    if (place.seated) this.host.room(place.request).failed();
    else if (this.place) this.host.clock.after(AFTER_FAILURE, () => place.ask());
  }

  /** The lease is over, whatever way: who still waits needs a place. */
  ended(holding: Holding): void {
    if (holding !== this.holding) return;
    this.holding = undefined;
    if (!this.place && this.waiters.first) this.queue();
    this.retire();
  }

  protected queue(): void {
    this.newPlace().ask();
  }

  protected newPlace(): Place {
    const { ttl, wait, share, dialect } = this.waiters.first!.call;
    const { key } = this;
    const tokens = this.#rooted ? this.tokens : Math.min(this.tokens, FIRST_BLOCK);
    const holder = this.host.newHolderId(this.fenced);
    const request = { key, holder, ttl, tokens, share, dialect };
    this.place = new Place(this.host, this, request, wait > 0);
    return this.place;
  }

  protected admit(waiter: Waiter, holding: Holding): void {
    this.#remove(waiter);
    this.holding = holding;
    waiter.enter(this.host.enter(holding));
    this.watchSlice();
  }

  #remove(waiter: Waiter): void {
    this.waiters.remove(waiter);
    this.host.gone(waiter);
  }

  #bound(waiter: Waiter, least = 0): void {
    const wait = Math.max(least, waiter.call.wait);
    if (wait !== Infinity) this.host.bounds.set(waiter, waiter.startedAt + wait);
  }

  /** Whether the turn goes on, and who wants `ttl` may have what is left of the lease. */
  protected mayPass(holding: Holding, ttl: number): boolean {
    const now = this.host.clock.monotonic();
    const left = holding.deadline - now;
    if (left < Math.min(ttl, FIRST_LEASE) / 2 || left > ttl) return false;
    return this.slice.take(now, this.fenced);
  }

  protected recovered(): boolean {
    this.#rooted = true;
    return this.#outage.end();
  }

  protected retire(): void {
    if (this.waiters.first || this.place || this.holding) return;
    this.host.slices.delete(this);
    this.host.retire(this);
  }
}
