import { LockStoreError } from '../errors/index.js';
import type { Answer, Claim, Held, Queued } from '../locks/lock-primitive.js';
import { deadlineOf } from './holding.js';
import type { Grant, PlaceHost } from './place-host.js';
import { Trail } from './trail.js';
import { FIRST_LEASE } from './waiting-room.js';

/** How long a push may be under way, in ms, before it counts as lost. */
const PUSH_TIME = 100;

/** Who stands at a place, and hears of what becomes of it. */
export interface PlaceOwner {
  /** The place has its turn; it is no place any more. */
  granted(place: Place, grant: Omit<Held, 'kind'>): void;
  /** It came to a place in the queue, or was found in it again. */
  queued(place: Place): void;
  /** The lock is taken and nobody wanted to queue, or the queue is full; it is no place any more. */
  refused(place: Place, why: 'busy' | 'full'): void;
  /** Its lease was over before it could be used; it is no place any more. */
  missed(place: Place): void;
  /** An ask failed; the owner says when to ask again, in ms, or gives the place up. */
  failed(place: Place, error: unknown): void;
}

/** One place in the queue of a lock, under one holder id: asks, hears the answers, and is left without a trace. */
export class Place {
  readonly trail: Trail;
  /** What the server gave it when it came; undefined until it is in the queue. */
  arrival: string | undefined;
  rank = Infinity;
  seated = false;
  #gone = false;
  #asking = false;
  /** The server may know this holder id: there is something to give up. */
  #known = false;

  constructor(
    private readonly host: PlaceHost,
    private readonly owner: PlaceOwner,
    readonly claim: Claim,
    private readonly queue: boolean,
  ) {
    this.trail = new Trail(host.settings.commandTimeout);
    host.expect(this);
  }

  /** Asks once; several at a time would only repeat each other. `former`: a lease to give back in the same step. */
  async ask(former?: Claim): Promise<boolean> {
    if (this.#gone || this.#asking) return false;
    const sentAt = this.host.clock.monotonic();
    this.#asking = this.#known = true;
    this.trail.sent(sentAt);
    let answer: Answer;
    try {
      answer = await this.host.lock.acquire({
        ...this.claim,
        queue: this.queue,
        arrival: this.arrival,
        former,
        wanted: this.#wanted,
      });
    } catch (error) {
      this.#asking = false;
      const outcome = error instanceof LockStoreError ? error.outcome : 'refused';
      if (outcome === 'unknown') this.trail.unknown(sentAt);
      else this.trail.answered();
      if (outcome === 'unsent') this.#leftNoTrace();
      if (!this.#gone) this.owner.failed(this, error);
      if (former) throw error;
      return false;
    }
    this.trail.answered();
    this.#asking = false;
    if (answer.kind === 'late') {
      this.#leftNoTrace();
      if (former && this.#gone) throw late(former);
      return this.ask(former);
    }
    if (!this.#gone) this.#hear(answer);
    return answer.gaveBack === true;
  }

  /** A push says that the place was granted. */
  granted(grant: Grant): void {
    if (this.#gone) return;
    const { sentAt } = grant;
    if (sentAt !== undefined && deadlineOf({ ...grant, sentAt }) > this.host.clock.monotonic()) {
      this.#enter({ ...grant, sentAt });
    } else {
      void this.ask(); // how much is left of it is not certain: the answer to an ask is
    }
  }

  /** Nobody stands here any more. */
  leave(): void {
    this.#end();
    if (this.#known) this.host.depart(this);
  }

  #hear(answer: Exclude<Answer, { kind: 'late' }>): void {
    switch (answer.kind) {
      case 'held':
        if (this.#missedPush(answer)) this.host.pushMissed();
        return this.#enter(answer);
      case 'queued':
        return this.#sit(answer);
      default:
        this.#leftNoTrace();
        this.leave();
        return this.owner.refused(this, answer.kind);
    }
  }

  #sit({ arrival, rank, remaining, rejoined }: Queued): void {
    const room = this.host.room(this.claim.key);
    this.arrival = arrival;
    this.rank = rank;
    this.owner.queued(this);
    if (this.#gone) return;
    room.seat(this, remaining);
    if (rejoined) room.askAll();
  }

  #enter(grant: Omit<Held, 'kind'>): void {
    if (deadlineOf(grant) <= this.host.clock.monotonic()) {
      this.leave();
      return this.owner.missed(this);
    }
    this.#end();
    this.owner.granted(this, grant);
  }

  #end(): void {
    this.#gone = true;
    this.host.forget(this);
  }

  /** A place that is found granted, and not just now, should have heard of it. */
  #missedPush({ remaining }: Held): boolean {
    return this.seated && remaining < Math.min(this.claim.ttl, FIRST_LEASE) - PUSH_TIME;
  }

  /** The last ask changed nothing; unless an earlier one may have, there is nothing to give up. */
  #leftNoTrace(): void {
    if (this.arrival === undefined && this.trail.uncertainUntil === -Infinity) this.#known = false;
  }

  readonly #wanted = (): boolean => !this.#gone;
}

/** A lease was not given back, and nobody asks any more with whom it could be. */
function late({ key }: Claim): LockStoreError {
  return new LockStoreError(`Lock "${key}" was asked for too late.`, { key, outcome: 'unsent' });
}
