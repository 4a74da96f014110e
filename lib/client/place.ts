import { LockStoreError } from '../errors/index.js';
import type { Grant } from '../locks/grant.js';
import type { Answer, Queued, Refusal } from '../locks/lock-primitive.js';
import type { LockRequest } from '../locks/lock-request.js';
import { FIRST_LEASE } from '../protocol/constants.js';
import type { Holding } from './holding.js';
import type { PlaceHost } from './place-host.js';
import type { Slice } from './slice.js';
import { standingOf } from './standing.js';
import { Trail } from './trail.js';

/** How long a push may be under way, in ms, before it counts as lost. */
const PUSH_TIME = 100;

/** Who stands at a place, and hears of what becomes of it. */
export interface PlaceOwner {
  /** The place has its turn; it is no place any more. */
  granted(place: Place, grant: Grant): void;
  /** It came to a place in the queue, or was found in it again. */
  queued(place: Place): void;
  /** It did not come into the queue, for this reason; it is no place any more. */
  refused(place: Place, why: Refusal): void;
  /** Its lease was over before it could be used; it is no place any more. */
  missed(place: Place): void;
  /** The lease of a place before it, without the store; undefined: no place of this owner's can have one. */
  inherited?(place: Place, holding: Holding, slice: Slice): void;
  /** An ask failed; the owner says when to ask again, in ms, or gives the place up. */
  failed(place: Place, error: unknown): void;
}

/** One place in the queue of a lock, under one holder id: asks, hears the answers, and is left without a trace. */
export class Place {
  readonly trail: Trail;
  rank = Infinity;
  seated = false;
  readonly #ask: { -readonly [Part in keyof LockRequest]: LockRequest[Part] };
  #gone = false;
  #asking = false;
  /** The server may know this holder id: there is something to give up. */
  #known = false;

  constructor(
    private readonly host: PlaceHost,
    private readonly owner: PlaceOwner,
    { key, holder, ttl, tokens, share, condition, dialect }: LockRequest,
    queue: boolean,
  ) {
    this.trail = new Trail(host.settings.commandTimeout);
    const wanted = (): boolean => !this.#gone;
    // Spelt out: a spread would make an object that is slow to read.
    this.#ask = {
      key,
      holder,
      ttl,
      tokens,
      share,
      condition,
      dialect,
      queue,
      arrival: undefined,
      former: undefined,
      wanted,
    };
    host.expect(this);
  }

  get request(): LockRequest {
    return this.#ask;
  }

  /** What the server gave it when it came; undefined until it is in the queue. */
  get arrival(): string | undefined {
    return this.#ask.arrival;
  }

  /** It awaits its condition no longer, only the lock; asks at once. */
  stopAwaiting(): void {
    this.#ask.condition = { ...this.#ask.condition!, over: true };
    this.ask();
  }

  /** Asks once; several at a time would only repeat each other. */
  ask(): void {
    if (this.#gone || this.#asking) return;
    const sentAt = this.#send();
    this.host.lock.acquire(this.#ask).then(
      (answer) => this.#answered(answer),
      (error: unknown) => this.#refused(error, sentAt),
    );
  }

  /** Asks for the first time, and gives a lease back in the same step. Resolves to whether it was still ours. */
  askGivingBack(former: LockRequest): Promise<boolean> {
    const sentAt = this.#send();
    return this.host.lock.acquire({ ...this.#ask, former }).then(
      (answer) => {
        this.#answered(answer);
        if (answer.kind !== 'late') return answer.gaveBack === true;
        throw late(former);
      },
      (error: unknown) => {
        this.#refused(error, sentAt);
        throw error;
      },
    );
  }

  /** A push says that the place was granted. Where it is uncertain how much is left of the grant, an answer says so. */
  granted(grant: Grant | undefined): void {
    if (this.#gone) return;
    if (grant && standingOf(grant, this.host.clock) === 'held') this.#enter(grant);
    else this.ask();
  }

  /** Whether a lease of this process may come here without the store: nothing is under way that may tell otherwise. */
  get canInherit(): boolean {
    return this.owner.inherited !== undefined && !this.trail.isUncertain(this.host.clock);
  }

  inherit(holding: Holding, slice: Slice): void {
    this.#end();
    this.owner.inherited!(this, holding, slice);
  }

  /** Nobody stands here any more. */
  leave(): void {
    this.#end();
    if (this.#known) this.host.depart(this);
  }

  #send(): number {
    const sentAt = this.host.clock.monotonic();
    this.#asking = this.#known = true;
    this.trail.sent(sentAt);
    return sentAt;
  }

  #answered(answer: Answer): void {
    this.trail.answered();
    this.#asking = false;
    if (!this.#gone) this.#hear(answer);
  }

  #refused(error: unknown, sentAt: number): void {
    this.#asking = false;
    const outcome = error instanceof LockStoreError ? error.outcome : 'refused';
    if (outcome === 'unknown') this.trail.unknown(sentAt);
    else this.trail.answered();
    if (outcome === 'unsent') this.#leftNoTrace();
    if (!this.#gone) this.owner.failed(this, error);
  }

  #hear(answer: Answer): void {
    switch (answer.kind) {
      case 'held':
        if (this.#missedPush(answer)) this.host.pushMissed();
        return this.#enter(answer);
      case 'queued':
        return this.#sit(answer);
      case 'late':
        this.#leftNoTrace();
        return this.ask();
      default:
        this.#leftNoTrace();
        this.leave();
        return this.owner.refused(this, answer.kind);
    }
  }

  #sit({ arrival, rank, remaining, rejoined }: Queued): void {
    const room = this.host.room(this.request);
    if (this.seated && arrival !== this.arrival) room.move(this);
    this.#ask.arrival = arrival;
    this.rank = rank;
    this.owner.queued(this);
    if (this.#gone) return;
    room.seat(this, remaining);
    if (rejoined) room.askAll();
  }

  #enter(grant: Grant): void {
    switch (standingOf(grant, this.host.clock)) {
      case 'held':
        this.#end(true);
        return this.owner.granted(this, grant);
      case 'doubtful':
        return this.ask(); // the machine slept while the answer was on its way
      case 'over':
        this.leave();
        return this.owner.missed(this);
    }
  }

  #end(granted = false): void {
    this.#gone = true;
    this.host.forget(this, granted);
  }

  /** A place that is found granted, and not just now, should have heard of it. */
  #missedPush({ remaining }: Grant): boolean {
    return this.seated && remaining < Math.min(this.request.ttl, FIRST_LEASE) - PUSH_TIME;
  }

  /** The last ask changed nothing; unless an earlier one may have, there is nothing to give up. */
  #leftNoTrace(): void {
    if (this.arrival === undefined && this.trail.uncertainUntil === -Infinity) this.#known = false;
  }
}

/** The ask that was to give a lease back changed nothing. */
function late({ key }: LockRequest): LockStoreError {
  return new LockStoreError(`Lock "${key}" was asked for too late.`, { key, outcome: 'unsent' });
}
