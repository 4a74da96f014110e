import { LockLimitError, LockStoreError } from '../errors/index.js';
import type { Grant } from '../locks/grant.js';
import { newHolderId } from '../locks/holder.js';
import type { Refusal } from '../locks/lock-primitive.js';
import type { LockRequest } from '../locks/lock-request.js';
import { AWAITS } from '../protocol/constants.js';
import { onAbort } from '../options/index.js';
import { HeldLock } from './held-lock.js';
import type { QueueContext } from './local-queue.js';
import { type Owner, QueueEntry } from './queue-entry.js';
import { SingleLease } from './single-lease.js';

/** How one awaits a condition. */
export interface Awaiting {
  readonly condition: string;
  /** In ms. */
  readonly wait: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * A holder that gave its lock back until a condition is signalled. It wakes as the holder again: signalled, or after its
 * time, when it has waited for the lock like any caller. One that gives up passes its signal on.
 */
export class ConditionWait implements Owner {
  /** Whether the holder was signalled, once it holds the lock again. */
  readonly woken: Promise<boolean>;
  #resolve!: (signalled: boolean) => void;
  #reject!: (reason: unknown) => void;
  #entry: QueueEntry;
  #begun = false;
  #settled = false;
  #timedOut = false;
  #stopClock = (): void => {};
  readonly #callOff: () => void;

  constructor(
    private readonly context: QueueContext,
    private readonly former: HeldLock,
    awaiting: Awaiting,
  ) {
    this.woken = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#entry = this.#newEntry({ name: awaiting.condition, over: false });
    const { wait, signal } = awaiting;
    if (wait !== Infinity) this.#stopClock = context.clock.after(wait, () => this.#timeOut());
    this.#callOff = onAbort(signal, () => this.reject(signal!.reason));
    context.cleanup.abandonServed(former.successors?.takeServed()); // before the lock goes to who comes next
    this.#entry.askGivingBack(former.request).then(
      () => (this.#begun = true),
      (error: unknown) => this.#notGivenBack(error),
    );
    former.successors?.ended(former);
  }

  get key(): string {
    return this.former.request.key;
  }

  /** The wait ends for this reason, and nothing is held. */
  reject(reason: unknown): void {
    this.#entry.leave();
    this.#fail(reason);
  }

  granted(entry: QueueEntry, grant: Grant): void {
    const { former } = this;
    const { clock, heldLocks } = this.context;
    const { key, holder, ttl, tokens } = entry.request;
    const request: LockRequest = { key, holder, ttl, tokens };
    const heldLock = new HeldLock(
      request,
      former.settings,
      grant,
      entry.inFlight,
      clock,
      undefined,
    );
    const { holds } = former;
    heldLocks.add(heldLock);
    const lease = new SingleLease(heldLocks, heldLock);
    former.resumeAs(heldLock);
    if (holds === 0) void lease.release('unused'); // nobody wants it back
    this.#settle();
    this.#resolve(!this.#timedOut || grant.signalled !== false);
  }

  queued({ rank, request }: QueueEntry): void {
    this.#begun = true;
    const awaits = request.condition && rank === AWAITS;
    if (this.#timedOut && awaits) this.#entry.stopAwaiting(); // the answer was on its way when the time was over
  }

  refused(_entry: QueueEntry, why: Refusal | 'expired'): void {
    const { former } = this;
    const { heldLocks, settings } = this.context;
    switch (why) {
      case 'expired':
        this.#entry = this.#newEntry(undefined);
        return this.#entry.ask();
      case 'full': {
        heldLocks.keep(former);
        const { waitersPerKey: cap } = settings.limits;
        const by = 'callers that await a condition';
        return this.#fail(new LockLimitError(former.request.key, 'waitersPerKey', cap, by));
      }
      case 'free':
      case 'taken':
        heldLocks.refused(former, why);
    }
    this.#fail(former.lossError());
  }

  failed(entry: QueueEntry, error: unknown): void {
    if (!this.#begun) return; // the answer to the first ask says more
    const retryable = error instanceof LockStoreError && error.retryable;
    const { clock, settings } = this.context;
    if (!retryable || clock.monotonic() >= entry.failingSince + settings.outageWait) {
      this.reject(error);
    }
  }

  #newEntry(condition: LockRequest['condition']): QueueEntry {
    const { key, ttl, tokens } = this.former.request;
    const holder = newHolderId(this.context.store.processId, tokens > 0);
    const request = { key, holder, ttl, tokens: Math.min(tokens, 1), condition };
    return new QueueEntry(this.context, this, request, true);
  }

  #notGivenBack(error: unknown): void {
    const { heldLocks } = this.context;
    const unknown = error instanceof LockStoreError && error.outcome === 'unknown';
    if (unknown) {
      this.#begun = true;
      heldLocks.giveUp(this.former);
      return this.failed(this.#entry, error);
    }
    this.#entry.leave();
    if (this.#settled) return heldLocks.giveUp(this.former); // the caller was told that the lock is not held
    heldLocks.keep(this.former);
    this.#fail(error);
  }

  #timeOut(): void {
    this.#timedOut = true;
    this.#entry.stopAwaiting();
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
