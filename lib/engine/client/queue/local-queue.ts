import { setImmediate } from 'node:timers';
import { LockLimitError, LockNotAcquiredError } from '../../errors/index.js';
import type { AcquireTrace } from '../../events/index.js';
import type { LockRequest } from '../../locks/lock-request.js';
import type { Grant, Refusal } from '../../locks/lock-store.js';
import { FIRST_LEASE } from '../../protocol/constants.js';
import { type CallSettings, onAbort, permitsOf } from '../../options/index.js';
import type { BaseLease } from '../leases/lease.js';
import { HeldLease, type HandOffTarget } from '../leases/held-lease.js';
import type { LeaseRegistry } from '../leases/lease-registry.js';
import { type EntryContext, type EntryListener, QueueEntry } from './queue-entry.js';
import { type Outage, pollerId } from './queue-poller.js';
import type { Due, Schedule, Scheduled } from '../leases/timers.js';
import { isRetryable } from '../leases/claim.js';
import { SingleLease } from '../leases/single-lease.js';
import { TimeSlice } from './time-slice.js';
import { Waiter } from './waiter.js';

/** How many tokens the first grant to a queue reserves: most callers come alone, and blocks may not outrun the clock. */
export const FIRST_BLOCK = 16;

/** The state that all local queues of a process share. */
export interface QueueContext extends EntryContext {
  readonly registry: LeaseRegistry;
  /** Wakes waiters whose time is over. */
  readonly bounds: Schedule<Waiter>;
  /** Wakes queues that have to check whether their holder overstays. */
  readonly slices: Schedule<LocalQueue>;
  /** How many callers wait, in all queues. */
  waiting: number;
  /** Aborts when no call may wait any more. */
  readonly stopping: AbortSignal;
  /** Drops a queue in which nobody waits, and of which nobody holds the lock. */
  retire(queue: LocalQueue): void;
  /** Rejects with the error of a call that began at `startedAt` and whose `wait` is over, as soon as the holder is known or nobody says. */
  timedOut(key: string, call: CallSettings, startedAt: number): Promise<never>;
}

/**
 * Callers of one process that wait in order for one lock, behind one entry in the store's queue. Until the time slice is
 * over, a holder that gives the lock back hands it off in memory. The next caller here gets it, or the queue whose entry is
 * directly behind, with one of the tokens that the grant reserved. Then the store decides who is next.
 */
export class LocalQueue implements EntryListener, HandOffTarget, Scheduled {
  /** The queue's place in the schedule of slices. */
  due: Due | undefined;
  nth = 0;
  #first: Waiter | undefined;
  #last: Waiter | undefined;
  #entry: QueueEntry | undefined;
  /** The last entry that was asked for while a holder of this queue was at work. */
  #early: QueueEntry | undefined;
  #heldLease: HeldLease | undefined;
  #slice: TimeSlice | undefined;
  /** True once the queue had an entry in the store, or the lock: its callers then wait for the end of an outage. */
  #admitted = false;

  constructor(
    private readonly context: QueueContext,
    readonly key: string,
    /** How many tokens a grant reserves for the queue; 0 for unfenced leases. */
    private readonly tokenBlock: number,
    /** Whether a lease is handed off, in the store's order, to entries of this process that are directly behind. */
    private readonly inBatches: boolean,
    /** The name by which any caller finds the queue; undefined for a queue of one caller. */
    readonly name: string | undefined,
  ) {}

  /** Resolves when the caller holds the lock. The call's `wait` counts from `startedAt`. */
  join(
    call: CallSettings,
    startedAt: number,
    trace: AcquireTrace | undefined,
    signal: AbortSignal | undefined,
  ): Promise<BaseLease> {
    const waiter = new Waiter(call, startedAt, trace);
    this.#add(waiter);
    if (call.maxWaiting < Infinity)
      this.#refuse((this.#entry?.inFront ?? 0) + waiter.place, waiter);
    if (this.#last !== waiter) return waiter.lease;
    if (signal) waiter.callOff = onAbort(signal, () => this.#reject(waiter, signal.reason));
    if (!this.#entry && !this.#heldLease) this.#newEntry().ask();
    else {
      this.#boundFrom(waiter);
      this.#watchSlice();
      this.context.registry.publisher.contended(waiter.trace, this.key);
    }
    return waiter.lease;
  }

  /** Rejects every caller that waits here, each with its reason. */
  rejectAll(reason: (key: string) => unknown): void {
    for (let each = this.#first; each; each = this.#first) this.#reject(each, reason(this.key));
  }

  granted(entry: QueueEntry, grant: Grant): void {
    const { clock, registry, settings } = this.context;
    const waiter = this.#first!;
    if (registry.claimed >= settings.limits.leases) return this.#refuseBeyondLimit(entry, waiter);
    if (!this.#admitted) this.#boundFrom(waiter.behind); // an outage could end the calls behind earlier; from now on their own `wait` bounds them
    const batch = this.inBatches ? grant.batch : undefined;
    this.#slice = new TimeSlice(clock.monotonic(), grant.tokens, batch, entry.inFront > 0);
    const heldLease = new HeldLease(entry.claim, waiter.call, grant, clock, this);
    const isCut = heldLease.cutTo(waiter.call.ttl); // the entry may have been made for another caller, which has left
    waiter.resolve(this.#admit(waiter, heldLease));
    if (isCut && waiter.call.format.queue) registry.verify([heldLease]); // in another format, no lease is shortened
  }

  /** The process holds as many locks as it may: the grant is given up to the next in the store's queue. */
  #refuseBeyondLimit({ claim }: QueueEntry, waiter: Waiter): void {
    const { cleanup, settings } = this.context;
    cleanup.abandon(claim);
    this.#entry = undefined;
    this.#reject(waiter, new LockLimitError(this.key, 'leases', settings.limits.leases));
    this.#enqueue(); // until the grant to the next caller, another lock may be given back
  }

  queued(entry: QueueEntry): void {
    if (!this.#admitted) this.#refuse(entry.rank);
    if (!this.#first) return;
    this.#admitted = true;
    if (!entry.polled) this.#boundFrom(this.#first);
    this.context.registry.publisher.contended(this.#first.trace, this.key, entry.rank);
  }

  refused(entry: QueueEntry, why: Refusal | 'expired'): void {
    this.#entry = undefined;
    if (why === 'expired') {
      this.#boundFrom(this.#first, this.context.settings.commandTimeout);
      this.#newEntry(entry.outage).ask();
    } else if (why === 'full' && entry === this.#early) {
      if (!this.#heldLease) this.#enqueue(); // with a lease, its release makes an entry in any case
    } else if (why === 'full') {
      const { maxWaiting = Infinity } = entry.request;
      this.#refuse(maxWaiting < this.context.settings.limits.waitersPerKey ? maxWaiting : Infinity);
      this.#enqueue(); // the callers left have a higher `maxWaiting`
    } else {
      const permits = permitsOf(entry.request.share);
      this.rejectAll((key) => new LockNotAcquiredError(key, 0, 0, permits));
    }
  }

  failed(entry: QueueEntry, error: unknown): void {
    if (!isRetryable(error) || (this.#admitted && entry.outageIsOver)) {
      return this.rejectAll(() => error);
    }
    if (this.#admitted) return;
    const { clock, settings } = this.context;
    const now = clock.monotonic();
    for (let waiter = this.#first; waiter;) {
      const { behind } = waiter;
      const patience = waiter.startedAt + settings.commandTimeout;
      if (now >= patience) this.#reject(waiter, error);
      else this.#expireAt(waiter, patience);
      waiter = behind;
    }
  }

  handOffLocally(heldLease: HeldLease): boolean {
    const waiter = this.#successorOf(heldLease);
    if (waiter) {
      if (!this.#mayHandOff(heldLease, this.#slice!, waiter.call.ttl)) return false;
      waiter.resolve(this.#admit(waiter, heldLease.successor(waiter.call, this), heldLease));
      if (this.#slice!.endsWithHolder) setImmediate(() => this.#enqueue(true)); // the new holder begins first, then the next caller asks
      return true;
    }
    const batch = this.#isOurs(heldLease) ? this.#slice!.batch : undefined;
    const next = batch && this.context.pollers.get(pollerId(heldLease.request))?.firstOf(batch);
    if (!next?.isSettled || !(next.owner instanceof LocalQueue)) return false;
    if (!next.owner.#takeOver(heldLease, this.#slice!, this.tokenBlock)) return false;
    this.#heldLease = undefined;
    this.#retire();
    return true;
  }

  /** Takes over the lease of the entry before this one, in the same slice; false if the store decides who is next. */
  #takeOver(heldLease: HeldLease, slice: TimeSlice, tokenBlock: number): boolean {
    const entry = this.#entry!;
    const isAlike = this.inBatches && tokenBlock === this.tokenBlock;
    if (!isAlike || !this.#mayHandOff(heldLease, slice, entry.request.ttl)) return false;
    entry.end();
    slice.serve(entry.request);
    this.#slice = slice;
    const waiter = this.#first!;
    waiter.resolve(this.#admit(waiter, heldLease.successor(waiter.call, this), heldLease));
    return true;
  }

  giveBackQueueing(heldLease: HeldLease): Promise<boolean> | undefined {
    return this.#successorOf(heldLease) && this.#newEntry().askGivingBack(heldLease.request);
  }

  takeServed(): LockRequest[] | undefined {
    return this.#slice?.takeServed();
  }

  /** The lease is over, for whatever reason: callers that still wait need an entry. */
  ended(heldLease: HeldLease): void {
    if (heldLease !== this.#heldLease) return;
    this.context.cleanup.abandonServed(this.takeServed());
    this.#heldLease = undefined;
    this.#enqueue();
    this.#retire();
  }

  /** The holder overstays: the callers behind it queue in the store, and the entries served before it leave that queue. */
  overstayed(): void {
    if (this.#heldLease) this.context.cleanup.abandonServed(this.takeServed());
    this.#enqueue();
  }

  /** Asks for an entry in the store's queue, if callers wait and there is none. */
  #enqueue(early = false): void {
    if (this.#entry || !this.#first) return;
    this.#newEntry().ask();
    if (early) this.#early = this.#entry;
  }

  /** Schedules the check whether the holder overstays, if callers wait behind it or the store does not know yet who was served. */
  #watchSlice(): void {
    const slice = this.#slice;
    if (!slice || !this.#heldLease) return;
    if (slice.hasServed || (!this.#entry && this.#first)) {
      this.context.slices.set(this, slice.overstayedAt);
    }
  }

  #newEntry(outage?: Outage): QueueEntry {
    const { context, key } = this;
    const { ttl, wait, share, format, label, maxWaiting: most } = this.#first!.call;
    const maxWaiting = this.#admitted ? Infinity : most; // an admitted queue refuses nobody
    const tokenBlock = this.#admitted ? this.tokenBlock : Math.min(this.tokenBlock, FIRST_BLOCK);
    const wanted = { key, ttl, tokenBlock, share, format, queue: wait > 0, maxWaiting, label };
    return (this.#entry = new QueueEntry(context, this, wanted, outage));
  }

  /** Makes the waiter the holder; `before`: the lease that was handed off to it. */
  #admit(waiter: Waiter, heldLease: HeldLease, before?: HeldLease): SingleLease {
    const { registry, clock } = this.context;
    const waited = clock.monotonic() - waiter.startedAt;
    this.#admitted = true;
    this.#entry = undefined;
    this.#remove(waiter);
    this.#heldLease = heldLease;
    registry.add(heldLease, waited, waiter.trace, before?.trace);
    this.#watchSlice();
    return new SingleLease(registry, heldLease, waited);
  }

  /** The next caller here, unless an entry waits in the store for it. */
  #successorOf(heldLease: HeldLease): Waiter | undefined {
    return this.#isOurs(heldLease) && !this.#entry ? this.#first : undefined;
  }

  /** Whether the lease belongs to this queue and may be handed off at once: it has no minimum hold. */
  #isOurs(heldLease: HeldLease): boolean {
    return heldLease === this.#heldLease && heldLease.settings.minHold === 0;
  }

  /** Whether the slice goes on, and the rest of the lease is enough for a caller that wants `ttl`. */
  #mayHandOff(heldLease: HeldLease, slice: TimeSlice, ttl: number): boolean {
    const now = this.context.clock.monotonic();
    const left = heldLease.deadline - now;
    if (left < Math.min(ttl, FIRST_LEASE) / 2 || left > ttl) return false;
    return slice.spend(now, this.tokenBlock > 0);
  }

  #add(waiter: Waiter): void {
    waiter.goBehind(this.#last);
    this.#first ??= waiter;
    this.#last = waiter;
    this.context.waiting += 1;
  }

  #remove(waiter: Waiter): void {
    if (this.#first === waiter) this.#first = waiter.behind;
    if (this.#last === waiter) this.#last = waiter.before;
    waiter.stepOut();
    this.context.waiting -= 1;
    this.context.bounds.delete(waiter);
    waiter.callOff?.();
  }

  /** Refuses `waiter` and those behind it whose `maxWaiting` is not above `inFront`. Infinity: the queue is full. */
  #refuse(inFront: number, waiter = this.#first): void {
    while (waiter) {
      const { behind, call } = waiter;
      if (inFront < call.maxWaiting) inFront += 1;
      else this.#reject(waiter, this.#crowded(call, inFront === Infinity));
      waiter = behind;
    }
  }

  /** The error of a caller for whom no room is left. */
  #crowded(call: CallSettings, isFull: boolean): LockLimitError {
    const { clock, pollers, settings } = this.context;
    const { owner } = pollers.get(pollerId({ ...call, key: this.key }))?.first ?? {};
    const queue = owner instanceof LocalQueue ? owner : this;
    const longest = queue.#admitted ? queue.#first : undefined;
    const retryAfter = longest && clock.monotonic() - longest.startedAt;
    const limit = isFull ? 'waitersPerKey' : 'maxWaiting';
    const cap = isFull ? settings.limits.waitersPerKey : call.maxWaiting;
    return new LockLimitError(this.key, limit, cap, { retryAfter });
  }

  /** Rejects a waiter before its turn. */
  #reject(waiter: Waiter, reason: unknown): void {
    waiter.reject(reason);
    this.#dismiss(waiter);
  }

  /** A settled waiter goes; the last one takes the entry along. */
  #dismiss(waiter: Waiter): void {
    this.#remove(waiter);
    if (!this.#first) {
      this.#entry?.leave();
      this.#entry = undefined;
    }
    this.#retire();
  }

  /** Ends the calls of this waiter and of those behind it at their bounds, or after `least` ms if that is later. */
  #boundFrom(first: Waiter | undefined, least = 0): void {
    for (let waiter = first; waiter; waiter = waiter.behind) {
      this.#expireAt(waiter, waiter.startedAt + Math.max(least, waiter.call.wait));
    }
  }

  #expireAt(waiter: Waiter, time: number): void {
    waiter.expire ??= () => this.#expire(waiter);
    this.context.bounds.set(waiter, time);
  }

  #expire(waiter: Waiter): void {
    const outage = this.#entry?.outage?.error;
    if (outage) return this.#reject(waiter, outage);
    const { call, startedAt } = waiter;
    waiter.resolve(this.context.timedOut(this.key, call, startedAt));
    this.#dismiss(waiter);
  }

  #retire(): void {
    if (this.#first || this.#entry || this.#heldLease) return;
    this.context.slices.delete(this);
    this.context.retire(this);
  }
}
