import { LockKeyError } from '../../engine/errors/index.js';
import { describe } from '../../engine/keys/index.js';
import type { Conditions } from '../../engine/client/condition-wait.js';
import type { SingleLease } from '../../engine/client/leases/single-lease.js';
import { type Duration, milliseconds, refuseOthers } from '../../engine/options/index.js';

/** The longest name of a condition, in characters. */
const LONGEST_NAME = 200;

/** The options of `Condition.await`. */
export interface AwaitOptions {
  /** How long the caller awaits a signal. Then it acquires the lock again and resolves to false. From 0 up. @default Infinity */
  readonly wait?: Duration | undefined;
  /** Cancels the wait: `await` rejects with `signal.reason`, the lock is not acquired again, and the lease is over. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A condition variable of a lock, over all replicas (as `java.util.concurrent.locks.Condition`). A holder releases the lock
 * until another holder signals that the guarded state has changed. Release and begin of the wait are one step, so no signal is
 * missed. Signalled callers wake in the order of waiting, hold the lock again, and have a new fencing token in the same lease.
 * The signal of a caller that leaves or dies goes to the next.
 *
 * A caller may wake without a signal, after Redis lost its data or an answer, so a loop checks the state.
 * @example `while (!ready) await condition.await({ wait: '1m' });`
 */
export class Condition {
  readonly #conditions: Conditions;
  readonly #lease: SingleLease;
  readonly #name: string;

  /** @internal */
  constructor(conditions: Conditions, lease: SingleLease, name: string) {
    conditions.refuseForeign(lease);
    this.#conditions = conditions;
    this.#lease = lease;
    this.#name = conditionName(name);
  }

  /**
   * Releases the lock and waits for a signal. Resolves when the lock is held again: to true after a signal, to false after
   * `wait`. Until then `lease.held` is false, and the caller may not write. Inside one section (`withLock`, `lease.run`, a
   * decorated method) one lease on its lock awaits at a time.
   * @throws LeaseLostError if the lease is over, or released meanwhile, with its reason; `signal.reason` when aborted; LockStoreError when Redis fails
   * for longer than `outageWait`; LockLimitError; LockShutdownError; LockOptionsError if another lease inside the same
   * section awaits. The lock is still held (`lease.held`) after a LockLimitError or LockOptionsError, after a LockStoreError
   * for a command that was not sent, and after a call during a shutdown.
   */
  async await({ wait = Infinity, signal, ...others }: AwaitOptions = {}): Promise<boolean> {
    refuseOthers(others);
    const ms = milliseconds('wait', wait, { min: 0, max: Infinity });
    return this.#conditions.await(this.#lease, { condition: this.#name, wait: ms, signal });
  }

  /**
   * Wakes the caller that has waited longest; it goes on when it gets the lock. Resolves to false if nobody waits.
   * @throws LeaseLostError unless the lock is held; LockStoreError.
   */
  async signal(): Promise<boolean> {
    return (await this.#conditions.signal(this.#lease, this.#name, 1)) === 1;
  }

  /**
   * Wakes all callers that wait at the time of the call, one after the other, and resolves to their number. Errors as in
   * {@link signal}. Redis wakes them in several steps and serves other commands in between. If this caller dies or loses the
   * lock half-way, the rest wait on in their order: signal again.
   */
  signalAll(): Promise<number> {
    return this.#conditions.signal(this.#lease, this.#name, Number.MAX_SAFE_INTEGER);
  }
}

/** Encodes the name for a queue entry, whose parts are separated by slashes. */
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
