import { LockStoreError } from '../../errors/index.js';
import { newHolderId } from '../../locks/holder.js';
import type { Answer, Grant, LockStore, Queued, Refusal } from '../../locks/lock-store.js';
import type { LockRequest } from '../../locks/lock-request.js';
import { FIRST_LEASE, LONGEST_BATCH, QUEUE_LIFE } from '../../protocol/constants.js';
import type { Clock, ModuleSettings } from '../../options/index.js';
import type { Cleanup } from '../leases/cleanup.js';
import { type Outage, type Polled, pollerId, QueuePoller } from './queue-poller.js';
import { validityOf } from '../../locks/validity.js';
import { Claim, isRetryable } from '../leases/claim.js';
import type { ChurnMap } from '../leases/churn-map.js';

/** How long a push may be under way, in ms, before it counts as lost. */
const PUSH_TIME = 100;
/**
 * The pause after a request that failed before the entry was queued, in ms. The server may have queued it all the same, and
 * takes a process that is silent for `SILENCE` for dead: so this pause is shorter than those of timers.ts.
 */
const AFTER_FAILURE = 50;

/** The state that all entries of a process share. */
export interface EntryContext {
  readonly store: LockStore;
  readonly settings: ModuleSettings;
  readonly clock: Clock;
  readonly cleanup: Cleanup;
  /** The entries that a push may reach, by holder id. */
  readonly entries: ChurnMap<QueueEntry>;
  /** The pollers of the locks in whose queues this process has entries, by {@link pollerId}. */
  readonly pollers: ChurnMap<QueuePoller<QueueEntry>>;
}

/** The owner of an entry, told what becomes of the entry. */
export interface EntryListener {
  /** The entry was granted the lock, and is over. */
  granted(entry: QueueEntry, grant: Grant): void;
  /** The entry came into the queue, or was found there again. */
  queued(entry: QueueEntry): void;
  /** The entry is over without a turn. `expired`: its lease was over before it could be used. */
  refused(entry: QueueEntry, why: Refusal | 'expired'): void;
  /** A request failed. The entry asks again soon, unless its owner leaves it. */
  failed(entry: QueueEntry, error: unknown): void;
}

/** What an entry asks for, and what its holder id says of the caller. */
type Wanted = Omit<LockRequest, 'holder'> & { readonly label: string | undefined };

/** One holder id in the queue of a lock: it asks, takes the answers, and leaves without a trace. */
export class QueueEntry implements Polled {
  readonly claim: Claim;
  rank = Infinity;
  polled = false;
  /** Whether the awaited condition was, or may have been, signalled. A request that finds the grant cannot tell. */
  signalled: boolean | undefined;
  readonly #request: { -readonly [Part in keyof LockRequest]: LockRequest[Part] };
  #over = false;
  #asking = false;
  /** The server may know this holder id: there is something to give up. */
  #known = false;
  /** Resolves when the last request is answered, or has failed. */
  #settled: Promise<void> | undefined;
  /** A push said that the entry was granted. */
  #told = false;

  constructor(
    private readonly context: EntryContext,
    readonly owner: EntryListener,
    { key, ttl, tokenBlock, share, condition, format, queue, maxWaiting, label }: Wanted,
    /** The outage before the entry is polled; at first that of the entry which it replaces. */
    private ownOutage?: Outage,
  ) {
    const { store, settings, clock, entries } = context;
    const holder = newHolderId(store.processId, tokenBlock > 0, label);
    // Field by field: an object made by a spread would be slow to read.
    this.#request = {
      key,
      holder,
      ttl,
      tokenBlock,
      share,
      condition,
      format,
      queue,
      maxWaiting,
      enqueuedAt: undefined,
      former: undefined,
      wanted: () => !this.#over,
    };
    this.claim = new Claim(this.#request, settings.commandTimeout, clock);
    entries.set(holder, this);
  }

  get request(): LockRequest {
    return this.#request;
  }

  /** The entry awaits its condition no longer, only the lock; it asks at once. */
  stopAwaiting(): void {
    const { condition } = this.#request;
    if (condition) this.#request.condition = { ...condition, over: true };
    this.ask();
  }

  /** Asks for the lock once; several requests at a time would only repeat each other. */
  ask(): void {
    if (this.#over || this.#asking) return;
    const sentAt = this.#send();
    this.#settled = this.context.store.acquire(this.#request).then(
      (answer) => this.#answered(answer),
      (error: unknown) => this.#failed(error, sentAt),
    );
  }

  /** Asks for the first time, and gives a lease back in the same step. Resolves to whether that lease was still held. */
  askGivingBack(former: LockRequest): Promise<boolean> {
    const sentAt = this.#send();
    return this.context.store.acquire({ ...this.#request, former }).then(
      (answer) => {
        this.#answered(answer);
        if (answer.kind !== 'late') return answer.gaveBack === true;
        throw late(former);
      },
      (error: unknown) => {
        this.#failed(error, sentAt);
        throw error;
      },
    );
  }

  /** A push says that the entry was granted. If the rest of its lease is uncertain, the store is asked. */
  granted(grant: Grant | undefined): void {
    if (this.#over) return;
    this.#told = true;
    const isSure = grant && mayBePushed(grant, this.#request);
    if (!isSure || validityOf(grant, this.context.clock) !== 'valid') return this.ask();
    this.end(true);
    this.owner.granted(this, grant);
  }

  /** Whether no request is under way that may still get the lock. */
  get isSettled(): boolean {
    return !this.claim.isUncertain;
  }

  /** How many waited before this entry when the store last said its rank; 0 before that. */
  get inFront(): number {
    return this.rank < Infinity ? this.rank : 0;
  }

  /** Ends the entry: no push and no answer reaches it any more. */
  end(granted = false): void {
    this.#over = true;
    this.context.entries.delete(this.request.holder);
    if (this.polled) this.#poller.remove(this, granted);
  }

  /** Ends the entry, and gives up whatever its holder id asked for. */
  leave(): void {
    this.end();
    if (!this.#known) return;
    const { request, claim, context } = this;
    const leave = async (): Promise<unknown> => {
      if (request.condition!.over && this.signalled === undefined) await this.#settled; // the answer sets `signalled`
      const condition = { ...request.condition!, signalled: this.signalled };
      return context.store.leave({ ...request, condition });
    };
    context.cleanup.abandon(claim, request.condition && leave, Math.max(request.ttl, QUEUE_LIFE)); // an entry outlives the ttl that it asks for
  }

  /** Why the entry's requests fail now; undefined while they do not. */
  get outage(): Outage | undefined {
    return this.polled ? this.#poller.outage : this.ownOutage;
  }

  /** Whether the entry's requests have failed for longer than any caller waits. */
  get outageIsOver(): boolean {
    const { outage, context } = this;
    const { clock, settings } = context;
    return outage !== undefined && clock.monotonic() >= outage.since + settings.outageWait;
  }

  /** The poller of all entries of this process for the lock; a new one if there is none. */
  get #poller(): QueuePoller<QueueEntry> {
    const { clock, pollers } = this.context;
    const id = pollerId(this.request);
    let poller = pollers.get(id);
    if (!poller) {
      poller = new QueuePoller(clock, () => pollers.delete(id));
      pollers.set(id, poller);
    }
    return poller;
  }

  #send(): number {
    this.#asking = this.#known = true;
    return this.claim.sent();
  }

  #answered(answer: Answer): void {
    this.claim.answered();
    this.#asking = false;
    if ('signalled' in answer) this.signalled ??= answer.signalled;
    if (this.#over) return;
    switch (answer.kind) {
      case 'held':
        return this.#held(answer);
      case 'queued':
        return this.#queued(answer);
      case 'late':
        this.#leftNoTrace();
        return this.ask();
      default:
        this.#leftNoTrace();
        this.leave();
        return this.owner.refused(this, answer.kind);
    }
  }

  #held(grant: Grant): void {
    if (this.#missedPush(grant)) this.context.store.pushMissed();
    switch (validityOf(grant, this.context.clock)) {
      case 'valid':
        this.end(true);
        return this.owner.granted(this, grant);
      case 'doubtful':
        return this.ask(); // the machine slept while the answer was on its way, so the lease is in doubt
      case 'expired':
        this.#fails(tooLate(this.request));
        if (this.#request.condition && this.signalled !== false) return this.ask(); // a new holder id would lose the signal
        this.leave();
        return this.owner.refused(this, 'expired');
    }
  }

  #queued({ enqueuedAt, rank, remaining, requeued }: Queued): void {
    if (this.polled && enqueuedAt !== this.request.enqueuedAt) this.#poller.remove(this, false);
    this.#request.enqueuedAt = enqueuedAt;
    this.rank = rank;
    this.owner.queued(this);
    if (this.#over) return;
    const poller = this.#poller;
    poller.add(this, remaining);
    if (requeued) poller.askAll();
  }

  #failed(error: unknown, sentAt: number): void {
    this.#asking = false;
    if (this.claim.failed(error, sentAt) === 'unsent') this.#leftNoTrace();
    if (this.#over) return;
    if (error instanceof LockStoreError) this.#fails(error);
    const failed = this.polled && isRetryable(error) ? this.#poller.failed(this, error) : [this];
    for (const each of failed) if (!each.#over) each.owner.failed(each, error);
    if (!this.#over && !this.polled) this.context.clock.after(AFTER_FAILURE, () => this.ask());
  }

  #fails(error: LockStoreError): void {
    this.ownOutage = { error, since: this.outage?.since ?? this.context.clock.monotonic() };
  }

  /** Whether a push got lost: an entry that is found granted, and not just now, should have got one. */
  #missedPush({ remaining }: Grant): boolean {
    const least = Math.min(this.request.ttl, FIRST_LEASE) - PUSH_TIME;
    return this.polled && !this.#told && remaining < least;
  }

  /** The last request changed nothing. Unless an earlier one may have, there is nothing to give up. */
  #leftNoTrace(): void {
    if (this.request.enqueuedAt === undefined && this.claim.uncertainUntil === -Infinity)
      this.#known = false;
  }
}

/** Whether a script may have pushed this grant: anybody can write to the inbox. */
function mayBePushed(grant: Grant, { ttl, tokenBlock }: LockRequest): boolean {
  const { remaining, fencingToken, tokens, batch } = grant;
  const behind = batch ? batch.entries : 0;
  if (![behind, tokens].every(Number.isInteger)) return false;
  if (!(remaining <= Math.min(ttl, FIRST_LEASE) && behind >= 0 && behind <= LONGEST_BATCH)) {
    return false;
  }
  if (tokenBlock === 0) return fencingToken === undefined;
  if (!Number.isSafeInteger(fencingToken)) return false;
  return fencingToken! > 0 && tokens >= 1 && tokens <= tokenBlock + behind;
}

/** The error of a request that was to give a lease back, and changed nothing. */
function late({ key }: LockRequest): LockStoreError {
  return new LockStoreError(`Lock "${key}" was asked for too late.`, { key, outcome: 'unsent' });
}

function tooLate({ key, ttl }: LockRequest): LockStoreError {
  const message = `Lock "${key}" was granted, but its lease of ${ttl} ms was over before Redis' answer arrived.`;
  return new LockStoreError(message, { key });
}
