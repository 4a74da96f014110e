import {
  LockLimitError,
  LockOptionsError,
  LockShutdownError,
  LockStoreError,
} from '../errors/index.js';
import type { Grant, Refusal } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { refuseWithoutQueue } from '../locks/preconditions.js';
import { AWAITS } from '../protocol/constants.js';
import { onAbort, throwIfAborted } from '../options/index.js';
import { HeldLease, LOSS } from './leases/held-lease.js';
import type { QueueContext } from './queue/local-queue.js';
import { type EntryListener, QueueEntry } from './queue/queue-entry.js';
import type { Outage } from './queue/queue-poller.js';
import { isRetryable } from './leases/claim.js';
import { Section } from './leases/section.js';
import { SingleLease } from './leases/single-lease.js';

/** How a holder awaits a condition. */
export interface Awaiting {
  readonly condition: string;
  /** How long the condition is awaited at most, in ms; `Infinity` without a limit. */
  readonly wait: number;
  readonly signal: AbortSignal | undefined;
}

/** All holders of this process that gave their lock back until a condition is signalled. */
export class Conditions {
  #awaiting = 0;

  constructor(private readonly context: QueueContext) {}

  get size(): number {
    return this.#awaiting;
  }

  /** @throws LockOptionsError for the lease of another module or application: its lock is not in this store. */
  refuseForeign(lease: SingleLease): void {
    if (SingleLease.isOf(this.context.registry, lease)) return;
    throw new LockOptionsError(
      `Another LockService granted the lease on lock "${lease.key}": call its condition().`,
    );
  }

  /** Gives the lock back, and resolves when it is held again: to whether the condition was signalled. */
  async await(lease: SingleLease, awaiting: Awaiting): Promise<boolean> {
    const { registry, stopping } = this.context;
    throwIfAborted(awaiting.signal);
    lease.assertHeld();
    if (stopping.aborted) throw new LockShutdownError(lease.key);
    const heldLease = SingleLease.heldLeaseOf(lease);
    refuseOthers(heldLease);
    refuseSecond(registry, lease.key);
    registry.beginAwaiting(heldLease);
    this.#awaiting += 1;
    try {
      return await new ConditionWait(this.context, heldLease, awaiting).woken;
    } finally {
      this.#awaiting -= 1;
    }
  }

  /**
   * Wakes up to `most` of the holders that await the condition now, in bounded steps, so that Redis serves others between them.
   * Resolves to how many were woken.
   */
  async signal(lease: SingleLease, condition: string, most: number): Promise<number> {
    lease.assertHeld();
    const heldLease = SingleLease.heldLeaseOf(lease);
    refuseOthers(heldLease);
    let woken = 0;
    let last: string | undefined;
    do {
      const { request } = heldLease;
      const answer = await this.context.store.signal(request, condition, most - woken, last);
      if (typeof answer === 'string') {
        if (heldLease.state === 'held' && request === heldLease.request)
          this.context.registry.lose(heldLease, LOSS[answer]);
        throw lease.lossError();
      }
      woken += answer.woken;
      ({ last } = answer);
    } while (last !== undefined);
    return woken;
  }
}

/**
 * A holder that gave its lock back until a condition is signalled or its time is over. It then waits for the lock like any
 * caller, and wakes as the holder again. A holder that gives up passes its signal on.
 */
class ConditionWait implements EntryListener {
  /** Resolves when the holder has the lock again: to whether it was signalled. */
  readonly woken: Promise<boolean>;
  #resolve!: (signalled: boolean) => void;
  #reject!: (reason: unknown) => void;
  #entry: QueueEntry;
  #begun = false;
  #timedOut = false;
  /** Functions that stop listening to the time limit, the abort signal, the shutdown and the release. */
  readonly #bounds: readonly (() => void)[];

  constructor(
    private readonly context: QueueContext,
    private readonly former: HeldLease,
    private readonly awaiting: Awaiting,
  ) {
    this.woken = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#entry = this.#newEntry({ name: awaiting.condition, over: false });
    const { wait, signal } = awaiting;
    const { clock, stopping } = context;
    const shutdown = (): void => this.#leave(new LockShutdownError(former.request.key));
    former.onGivenBack = () => {
      former.endUnclaimed();
      this.#leave(former.lossError());
    };
    this.#bounds = [
      wait === Infinity ? () => {} : clock.after(wait, () => this.#timeOut()),
      onAbort(signal, () => this.#leave(signal!.reason)),
      onAbort(stopping, shutdown),
      () => (former.onGivenBack = undefined),
    ];
    context.cleanup.abandonServed(former.handOffTarget?.takeServed()); // these entries leave before the lock goes on
    const { isUncertain } = former.claim;
    this.#entry.askGivingBack(former.request).then(
      (gaveBack) => {
        this.#begun = true;
        const stays = !gaveBack && former.state !== 'held'; // the queue was full, so the lock stays the caller's, but it has given up meanwhile
        if (isUncertain || stays) context.registry.abandon(former);
        else if (gaveBack) context.cleanup.ended(former.request);
      },
      (error: unknown) => this.#notGivenBack(error),
    );
    former.handOffTarget?.ended(former);
  }

  granted(entry: QueueEntry, grant: Grant): void {
    const { former } = this;
    const { clock, registry } = this.context;
    const heldLease = new HeldLease(entry.claim, former.settings, grant, clock, undefined);
    registry.add(heldLease, 0, former.trace?.acquire);
    former.resumeAs(heldLease);
    this.#settle();
    this.#resolve(!this.#timedOut || (entry.signalled ?? grant.signalled) !== false);
  }

  queued({ rank, request }: QueueEntry): void {
    this.#begun = true;
    const awaits = request.condition && rank === AWAITS;
    if (this.#timedOut && awaits) this.#entry.stopAwaiting(); // the answer was on its way when the time was over
  }

  refused(entry: QueueEntry, why: Refusal | 'expired'): void {
    const { former } = this;
    const { registry, settings } = this.context;
    if (why === 'expired') {
      const next = this.#newEntry(undefined, entry.outage);
      next.signalled = false; // a signalled entry asks again itself, so this one was not signalled
      this.#entry = next;
      return next.ask();
    }
    if (why === 'full') {
      if (!this.#begun) registry.undoRelease(former);
      const { waitersPerKey: cap } = settings.limits;
      const by = 'callers that await a condition';
      return this.#fail(new LockLimitError(former.request.key, 'waitersPerKey', cap, { by }));
    }
    if (why !== 'busy') registry.lose(former, LOSS[why]);
    this.#fail(former.lossError());
  }

  failed(entry: QueueEntry, error: unknown): void {
    if (!this.#begun) return; // `#notGivenBack` handles a failure of the first request
    if (!isRetryable(error) || entry.outageIsOver) this.#leave(error);
  }

  #newEntry(condition: LockRequest['condition'], outage?: Outage): QueueEntry {
    const { request, settings } = this.former;
    const { key, format } = request;
    const { ttl, label } = settings; // the request may be another call's
    const tokenBlock = Math.min(request.tokenBlock, 1);
    const wanted = { key, ttl, tokenBlock, format, condition, queue: true, label };
    return new QueueEntry(this.context, this, wanted, outage);
  }

  #notGivenBack(error: unknown): void {
    const { former } = this;
    const { registry } = this.context;
    const unknown = error instanceof LockStoreError && error.outcome === 'unknown';
    if (unknown) {
      this.#begun = true;
      registry.abandon(former);
      return this.failed(this.#entry, error);
    }
    this.#entry.leave();
    if (former.state !== 'awaiting') return registry.abandon(former); // the caller knows already that it does not hold the lock
    registry.undoRelease(former);
    this.#fail(error);
  }

  #timeOut(): void {
    this.#timedOut = true;
    this.#entry.stopAwaiting();
  }

  /** Ends the wait for this reason; nothing is held. */
  #leave(reason: unknown): void {
    this.#entry.leave();
    this.#fail(reason);
  }

  /** Rejects the wait. If the lock was given back, its lease is lost, or just over if its caller aborted. */
  #fail(reason: unknown): void {
    const { former } = this;
    const { signal } = this.awaiting;
    this.#settle();
    if (former.state === 'awaiting') {
      if (signal?.aborted && reason === signal.reason) former.endUnclaimed();
      else {
        const shutsDown = reason instanceof LockShutdownError;
        this.context.registry.loseAwaited(former, shutsDown ? 'shutdown' : 'awaiting');
      }
    }
    this.#reject(reason);
  }

  #settle(): void {
    for (const callOff of this.#bounds) callOff();
  }
}

/**
 * One sibling in a section awaits at a time. With two, the code around would hold the lock again when the first woke, and
 * its lease could end only after the other's.
 */
function refuseSecond(owner: object, key: string): void {
  for (const { heldLease } of Section.around(owner)) {
    if (heldLease.state !== 'awaiting' || heldLease.request.key !== key) continue;
    throw new LockOptionsError(
      `In the same section of lock "${key}" another lease awaits a condition: one inside it awaits at a time. Let the others await outside of it.`,
    );
  }
}

/** Refuses shared locks and those without a queue: a signal could not reach the callers that wait for them. */
function refuseOthers({ request }: HeldLease): void {
  if (request.share) {
    throw new LockOptionsError(
      `Lock "${request.key}" is shared: a condition is awaited, and signalled, by who holds its lock alone.`,
    );
  }
  refuseWithoutQueue('await', request);
}
