import { LockLimitError, LockStoreError } from '../errors/index.js';
import type { Grant } from '../locks/grant.js';
import type { Refusal } from '../locks/lock-primitive.js';
import type { LockRequest } from '../locks/lock-request.js';
import { AWAITS } from '../protocol/constants.js';
import { onAbort } from '../options/index.js';
import { Holding, type Onward } from './holding.js';
import type { LineHost } from './line-host.js';
import { Outage } from './outage.js';
import { Place, type PlaceOwner } from './place.js';

/** The pause after an ask that failed before there was a place, in ms. */
const AFTER_FAILURE = 50;

/** What becomes of the lease that was given back. */
export interface FormerHost {
  /** It is not given back after all. */
  keep(former: Holding): void;
  /** It was over before: nobody holds the lock now, or another does. */
  refused(former: Holding, now: 'taken' | 'free'): void;
  /** Whether it was given back is not known: it is given up. */
  giveUp(former: Holding): void;
}

/** How one awaits a condition. */
export interface Awaiting {
  readonly condition: string;
  /** In ms. */
  readonly wait: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * One holder who gave his lock back until a condition is signalled. He wakes as the holder again: signalled, or
 * after his time, when he has waited for the lock like anybody. Who gives up passes his signal on.
 */
export class ConditionWait implements PlaceOwner, Onward {
  /** Whether he was signalled, once he holds the lock again. */
  readonly woken: Promise<boolean>;
  #resolve!: (signalled: boolean) => void;
  #reject!: (reason: unknown) => void;
  #place: Place;
  #begun = false;
  #settled = false;
  #over = false;
  readonly #outage = new Outage();
  #stopClock = (): void => {};
  readonly #callOff: () => void;

  constructor(
    private readonly host: LineHost,
    private readonly formerHost: FormerHost,
    private readonly former: Holding,
    awaiting: Awaiting,
  ) {
    this.woken = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#place = this.#newPlace({ name: awaiting.condition, over: false });
    const { wait, signal } = awaiting;
    if (wait !== Infinity) this.#stopClock = host.clock.after(wait, () => this.#timeOut());
    this.#callOff = onAbort(signal, () => this.turnAway(signal!.reason));
    const passed = former.onward.takePassed?.();
    if (passed) host.departPassed(passed); // before the lock goes to who comes next
    this.#place.askGivingBack(former.request).then(
      () => (this.#begun = true),
      (error: unknown) => this.#notGivenBack(error),
    );
    former.onward.ended(former);
  }

  get key(): string {
    return this.former.request.key;
  }

  /** He waits no more, for this reason: he holds nothing. */
  turnAway(reason: unknown): void {
    this.#place.leave();
    this.#fail(reason);
  }

  granted({ request: { key, holder, ttl, tokens }, trail }: Place, grant: Grant): void {
    const { former, host } = this;
    const request: LockRequest = { key, holder, ttl, tokens };
    const holding = new Holding(request, former.settings, grant, trail, host.clock, this);
    const { holds } = former;
    const lease = host.enter(holding);
    former.goOnAs(holding);
    if (holds === 0) void lease.release('unused'); // nobody wants it back
    this.#settle();
    this.#resolve(!this.#over || grant.signalled !== false);
  }

  queued({ rank, request }: Place): void {
    this.#begun = true;
    this.#outage.end();
    const awaits = request.condition && rank === AWAITS;
    if (this.#over && awaits) this.#place.stopAwaiting(); // that answer was on its way when his time was over
  }

  refused(_place: Place, why: Refusal): void {
    const { former, host } = this;
    if (why === 'full') {
      this.formerHost.keep(former);
      const { waitersPerKey: cap } = host.settings.limits;
      const by = 'callers that await a condition';
      return this.#fail(new LockLimitError(former.request.key, 'waitersPerKey', cap, by));
    }
    if (why !== 'busy') this.formerHost.refused(former, why);
    this.#fail(former.lossError());
  }

  missed(): void {
    this.#place = this.#newPlace(undefined);
    this.#place.ask();
  }

  failed(place: Place, error: unknown): void {
    if (!this.#begun) return; // the answer to the first ask says more
    const now = this.host.clock.monotonic();
    const retryable = error instanceof LockStoreError && error.retryable;
    if (retryable) this.#outage.fails(error, now);
    if (!retryable || now >= this.#outage.since + this.host.settings.outageWait) {
      return this.turnAway(error);
    }
    if (place.seated) this.host.room(place.request).failed();
    else this.host.clock.after(AFTER_FAILURE, () => place.ask());
  }

  passOn(): boolean {
    return false;
  }

  ended(): void {
    // nobody stands behind him here
  }

  #newPlace(condition: LockRequest['condition']): Place {
    const { key, ttl, tokens } = this.former.request;
    const holder = this.host.newHolderId(tokens > 0);
    const request = { key, holder, ttl, tokens: Math.min(tokens, 1), condition };
    return new Place(this.host, this, request, true);
  }

  #notGivenBack(error: unknown): void {
    const unknown = error instanceof LockStoreError && error.outcome === 'unknown';
    if (unknown) {
      this.#begun = true;
      this.formerHost.giveUp(this.former);
      return this.failed(this.#place, error);
    }
    this.#place.leave();
    if (this.#settled) return this.formerHost.giveUp(this.former); // the caller was told that the lock is not held
    this.formerHost.keep(this.former);
    this.#fail(error);
  }

  #timeOut(): void {
    this.#over = true;
    this.#place.stopAwaiting();
  }

  #fail(reason: unknown): void {
    this.#settle();
    this.#reject(reason);
  }

  #settle(): void {
    this.#settled = true;
    this.#stopClock();
    this.#callOff();
  }
}
