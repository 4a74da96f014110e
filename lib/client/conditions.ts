import { LockOptionsError, LockShutdownError } from '../errors/index.js';
import { type Awaiting, ConditionWait } from './condition-wait.js';
import type { HeldLock } from './held-lock.js';
import type { QueueContext } from './local-queue.js';
import { SingleLease } from './single-lease.js';

/** All holders of this process that gave their lock back until a condition is signalled. */
export class Conditions {
  readonly #waits = new Set<ConditionWait>();
  #refusal: ((key: string) => unknown) | undefined;

  constructor(private readonly context: QueueContext) {}

  get size(): number {
    return this.#waits.size;
  }

  /** Gives the lock back, and resolves when it is held again: to whether it was signalled. */
  async await(lease: SingleLease, awaiting: Awaiting): Promise<boolean> {
    awaiting.signal?.throwIfAborted();
    lease.assertHeld();
    if (this.#refusal) throw this.#refusal(lease.key);
    const heldLock = SingleLease.heldLockOf(lease);
    refuseOthers(heldLock);
    this.context.heldLocks.beginAwaiting(heldLock);
    const wait = new ConditionWait(this.context, heldLock, awaiting);
    this.#waits.add(wait);
    try {
      return await wait.woken;
    } catch (error) {
      if (heldLock.state === 'awaiting') endAwaiting(heldLock, error, awaiting.signal);
      throw error;
    } finally {
      this.#waits.delete(wait);
    }
  }

  /**
   * Wakes up to `most` of the holders that await the condition now, in bounded steps, so that Redis serves others between them.
   * Resolves to how many were woken.
   */
  async signal(lease: SingleLease, condition: string, most: number): Promise<number> {
    lease.assertHeld();
    const heldLock = SingleLease.heldLockOf(lease);
    refuseOthers(heldLock);
    let woken = 0;
    let last: string | undefined;
    do {
      const { request } = heldLock;
      const answer = await this.context.store.lock.signal(request, condition, most - woken, last);
      if (typeof answer === 'string') {
        if (heldLock.state === 'held' && request === heldLock.request)
          this.context.heldLocks.refused(heldLock, answer);
        throw lease.lossError();
      }
      woken += answer.woken;
      ({ last } = answer);
    } while (last !== undefined);
    return woken;
  }

  /** Ends every wait for this reason. A holder that calls later is refused, and keeps its lock. */
  rejectAll(reason: (key: string) => unknown): void {
    this.#refusal = reason;
    for (const wait of this.#waits) wait.reject(reason(wait.key));
  }
}

/** The lock was given back and not taken again. A caller that aborted knows that; for any other the lease is lost. */
function endAwaiting(heldLock: HeldLock, error: unknown, signal: AbortSignal | undefined): void {
  if (signal?.aborted && error === signal.reason) {
    heldLock.forgo();
  } else {
    heldLock.lose(error instanceof LockShutdownError ? 'shutdown' : 'awaiting');
  }
}

/** Callers that wait for a lock in another format are in no queue that a signal could reach. */
function refuseOthers({ request: { key, share, dialect } }: HeldLock): void {
  if (share) {
    throw new LockOptionsError(
      `Lock "${key}" is shared: a condition is awaited, and signalled, by who holds its lock alone.`,
    );
  }
  if (!dialect) return;
  throw new LockOptionsError(
    `Lock "${key}" is taken in dialect "${dialect.name}", which has no conditions.`,
  );
}
