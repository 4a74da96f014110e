import { LockLimitError, LockNotAcquiredError, LockStoreError } from '../errors/index.js';
import type { Answer, Claim, Held, Queued } from '../locks/lock-primitive.js';
import type { CallSettings } from '../options/index.js';
import { deadlineOf, Holding } from './holding.js';
import { Trail } from './trail.js';
import type { Grant, WaiterHost } from './waiter-host.js';
import { FIRST_LEASE } from './waiting-room.js';

/** How long a push may be under way, in ms, before it counts as lost. */
const PUSH_TIME = 100;

/** One caller's way from the first ask to the lock, to an error, or to an abort; settles once. */
export class Waiter {
  claim: Claim;
  trail: Trail;
  arrival: string | undefined;
  rank = Infinity;
  seated = false;
  readonly holding: Promise<Holding>;
  readonly #startedAt: number;
  #resolve!: (holding: Holding) => void;
  #reject!: (reason: unknown) => void;
  #settled = false;
  #asking = false;
  /** The server may know this holder id: there is something to give up. */
  #known = false;
  #cancelWait: (() => void) | undefined;
  #failure: LockStoreError | undefined;
  #failingSince = 0;

  constructor(
    private readonly host: WaiterHost,
    private readonly key: string,
    private readonly call: CallSettings,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.holding = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#startedAt = host.clock.monotonic();
    this.claim = this.#newClaim();
    this.trail = new Trail(host.settings.commandTimeout);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    host.expect(this);
    void this.ask();
  }

  /** Asks once; several at a time would only repeat each other. */
  async ask(): Promise<void> {
    if (this.#settled || this.#asking) return;
    const { claim, trail } = this;
    const sentAt = this.host.clock.monotonic();
    this.#asking = this.#known = true;
    trail.sent(sentAt);
    try {
      const answer = await this.host.lock.acquire({
        ...claim,
        queue: this.call.wait > 0,
        arrival: this.arrival,
        wanted: () => !this.#settled && this.claim === claim,
      });
      trail.answered();
      this.#asking = false;
      if (!this.#settled && this.claim === claim) this.#hear(answer);
    } catch (error) {
      this.#asking = false;
      const outcome = error instanceof LockStoreError ? error.outcome : 'refused';
      if (outcome === 'unknown') trail.unknown(sentAt);
      else trail.answered();
      if (outcome === 'unsent') this.#leftNoTrace();
      if (!this.#settled) this.#fail(error);
    }
  }

  /** A push says that the place was granted. */
  granted(grant: Grant): void {
    if (this.#settled) return;
    const { sentAt } = grant;
    if (sentAt !== undefined && deadlineOf({ ...grant, sentAt }) > this.host.clock.monotonic()) {
      this.#enter({ ...grant, sentAt });
    } else {
      void this.ask(); // how much is left of it is not certain: the answer to an ask is
    }
  }

  giveUp(reason: unknown): void {
    if (!this.#settle()) return;
    if (this.#known) this.host.depart(this);
    this.#reject(reason);
  }

  #hear(answer: Answer): void {
    this.#failure = undefined;
    switch (answer.kind) {
      case 'held':
        if (this.#missedPush(answer)) this.host.pushMissed();
        return this.#enter(answer);
      case 'queued':
        return this.#queue(answer);
      case 'late':
        this.#leftNoTrace();
        return void this.ask();
      case 'busy':
        this.#leftNoTrace();
        return this.giveUp(new LockNotAcquiredError(this.key, 0));
      case 'full':
        this.#leftNoTrace();
        return this.giveUp(
          new LockLimitError(this.key, 'waitersPerKey', this.host.settings.limits.waitersPerKey),
        );
    }
  }

  #queue({ arrival, rank, remaining, rejoined }: Queued): void {
    const room = this.host.room(this.key);
    this.arrival = arrival;
    this.rank = rank;
    if (!this.seated) this.#waitUpTo(this.call.wait);
    room.seat(this, remaining);
    if (rejoined) room.askAll();
  }

  #enter(grant: Omit<Held, 'kind'>): void {
    if (deadlineOf(grant) <= this.host.clock.monotonic()) return this.#startAnew();
    if (!this.#settle()) return;
    const holding = new Holding(this.claim, this.call, grant, this.trail, this.host.clock);
    this.host.enter(holding);
    this.#resolve(holding);
  }

  /** A place that is found granted, and not just now, should have heard of it. */
  #missedPush({ remaining }: Held): boolean {
    const firstLease = Math.min(this.call.ttl, FIRST_LEASE);
    return this.seated && remaining < firstLease - PUSH_TIME;
  }

  /** The last ask changed nothing; unless an earlier one may have, there is nothing to give up. */
  #leftNoTrace(): void {
    if (this.arrival === undefined && this.trail.uncertainUntil === -Infinity) this.#known = false;
  }

  /** The lease was over before we could use it: nobody entered, so the caller queues again under a new id. */
  #startAnew(): void {
    this.host.forget(this);
    this.host.depart(this);
    this.#failure = new LockStoreError(
      `Lock "${this.key}" was granted, but its lease of ${this.call.ttl} ms was over before Redis' answer arrived.`,
      { key: this.key },
    );
    if (!this.#cancelWait)
      this.#waitUpTo(Math.max(this.call.wait, this.host.settings.commandTimeout));
    this.claim = this.#newClaim();
    this.trail = new Trail(this.host.settings.commandTimeout);
    this.arrival = undefined;
    this.host.expect(this);
    void this.ask();
  }

  #fail(error: unknown): void {
    const now = this.host.clock.monotonic();
    const { commandTimeout, outageWait } = this.host.settings;
    if (!(error instanceof LockStoreError) || !error.retryable) return this.giveUp(error);
    if (!this.#failure) this.#failingSince = now;
    this.#failure = error;
    const queued = this.arrival !== undefined;
    const patience = queued ? this.#failingSince + outageWait : this.#startedAt + commandTimeout;
    if (now >= patience) return this.giveUp(error);
    if (queued) return this.host.room(this.key).failed();
    this.#waitUpTo(commandTimeout);
    this.host.clock.after(Math.min(50, patience - now), () => void this.ask());
  }

  /** Bounds the whole call, counted from its start. */
  #waitUpTo(ms: number): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    if (ms === Infinity) return;
    const left = this.#startedAt + ms - this.host.clock.monotonic();
    this.#cancelWait = this.host.clock.after(Math.max(0, left), () =>
      this.giveUp(this.#failure ?? new LockNotAcquiredError(this.key, this.call.wait)),
    );
  }

  readonly #onAbort = (): void => this.giveUp(this.signal!.reason);

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#cancelWait?.();
    this.signal?.removeEventListener('abort', this.#onAbort);
    this.host.forget(this);
    return true;
  }

  #newClaim(): Claim {
    const { ttl, fencing } = this.call;
    return { key: this.key, holder: this.host.newHolderId(), ttl, fenced: fencing };
  }
}
