import { LockKeyError } from '../errors/index.js';
import { describe } from '../keys/index.js';
import type { Conditions } from '../client/conditions.js';
import type { SingleLease } from '../client/single-lease.js';
import { type Duration, milliseconds } from '../options/index.js';

/** The longest name of a condition, in characters. */
const LONGEST_NAME = 200;

/** How long a condition is awaited. */
export interface AwaitOptions {
  /** After this the caller wakes without a signal; without end if nothing is said. */
  readonly wait?: Duration | undefined;
  /** Aborted while waiting: rejects with `signal.reason` and does not take the lock again: the lease is over. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A condition variable of a lock, over all replicas: a holder gives the lock back until another says that the
 * state under it has changed, as `java.util.concurrent.locks.Condition`. Giving back and beginning to wait are one
 * step, so no signal is missed; a signalled waiter wakes as the holder, in the order of waiting, with a new fencing
 * token in the same lease. A signal that reaches one who leaves or dies goes on to the next.
 *
 * A waiter may wake without a signal (after Redis lost its data, or an answer): await in a loop that looks at the
 * state, `while (!ready) await condition.await()`.
 */
export class Condition {
  readonly #conditions: Conditions;
  readonly #lease: SingleLease;
  readonly #name: string;

  /** @internal */
  constructor(conditions: Conditions, lease: SingleLease, name: string) {
    this.#conditions = conditions;
    this.#lease = lease;
    this.#name = conditionName(name);
  }

  /**
   * Gives the lock back and waits. Resolves when it is held again: true if the condition was signalled, false if
   * `wait` was over before. While it waits, `lease.held` is false and nothing may be written.
   * @throws LeaseLostError if the lease is over, with how it was lost; `signal.reason` when aborted; LockStoreError when Redis fails
   * for longer than `outageWait`; LockLimitError, LockShutdownError. After a LockLimitError, a LockStoreError that
   * says nothing was sent, and a call during a shutdown, the lock is still held (`lease.held` tells); else it is not.
   */
  await({ wait = Infinity, signal }: AwaitOptions = {}): Promise<boolean> {
    const ms = milliseconds('wait', wait, { min: 0, max: Infinity });
    return this.#conditions.await(this.#lease, { condition: this.#name, wait: ms, signal });
  }

  /**
   * Wakes the one who has waited longest; he goes on when the lock comes to him. False if nobody waits.
   * @throws LeaseLostError unless the lock is held; LockStoreError.
   */
  async signal(): Promise<boolean> {
    return (await this.#conditions.signal(this.#lease, this.#name, 1)) === 1;
  }

  /**
   * Wakes all who wait when it is called, one after the other, and nobody who comes later. How many; errors as in
   * {@link signal}. Redis wakes 250 in one step and serves others between the steps. If the caller ends half-way, or
   * loses the lock, the first of them are awake and the rest wait on, in their order: signal again.
   */
  signalAll(): Promise<number> {
    return this.#conditions.signal(this.#lease, this.#name, Number.MAX_SAFE_INTEGER);
  }
}

/** As it stands in a place: without a slash. */
function conditionName(name: unknown): string {
  if (typeof name !== 'string' || name === '') {
    throw new LockKeyError(`The name of a condition is a text, not ${describe(name)}.`);
  }
  if (name.length > LONGEST_NAME || !name.isWellFormed()) {
    throw new LockKeyError(
      `The name of a condition has up to ${LONGEST_NAME} characters, no half of a surrogate pair among them.`,
    );
  }
  return encodeURIComponent(name);
}
