import { LockError } from './lock.error.js';

/**
 * Why a lease is not held.
 *
 * - `expired`: its time ran out before it was renewed.
 * - `gone`: Redis had the lock no more although its time was not over: the key was deleted or evicted, or Redis lost its
 *   data. The process notices at its next renewal, after up to a third of the ttl; a lease that is not renewed, at its end.
 * - `taken`: another holder has the lock.
 * - `forced`: an operator released it by force.
 * - `released`: it was given back by `release`, or by the end of its body.
 * - `transferred`: it was handed over.
 * - `awaiting`: it was given back until a condition is signalled.
 * - `unconfirmed`: Redis did not say whether `downgrade` or `handOver` was done, so the lease was given up. Or the machine
 *   slept or its clock was set, and Redis is asked whether the lease lasts.
 * - `shutdown`: the application shut down.
 */
export type LossReason =
  | 'expired'
  | 'gone'
  | 'taken'
  | 'forced'
  | 'released'
  | 'transferred'
  | 'awaiting'
  | 'unconfirmed'
  | 'shutdown';

const EXPLANATION: Record<LossReason, string> = {
  expired: 'its time ran out before it was renewed.',
  gone: 'Redis had it no more. Its key was deleted or evicted, or Redis lost its data.',
  taken: 'another holder has the lock now.',
  forced: 'an operator released it by force.',
  released:
    'it was released before. Is an "await" missing, so that work went on after the release?',
  transferred: 'it was handed over.',
  awaiting: 'it was given back to await a condition.',
  unconfirmed:
    'Redis has not confirmed it since its last step was not answered, the machine slept, or its clock was set.',
  shutdown: 'the application is shutting down.',
};

/** The lease is over although the work under it was not: stop, and let the fencing token guard what was written. */
export class LeaseLostError extends LockError {
  readonly code = 'LEASE_LOST';

  constructor(
    key: string,
    readonly reason: LossReason,
    /** How much of the lease was left when it was found `gone`, in ms. */
    left?: number,
    /** Why the last renewal failed, if it did. */
    cause?: LockError,
  ) {
    const rest = left === undefined ? '' : ` Its time was over in ${Math.round(left)} ms.`;
    super(`The lease on lock "${key}" is over: ${EXPLANATION[reason]}${rest}`, { key, cause });
  }
}

/**
 * Nothing was written: the resource has seen a later holder's fencing token. The writer holds the lock no more, whatever
 * its clock says. `key` is the lock's if a lease was given, else the resource.
 */
export class StaleFencingTokenError extends LockError {
  readonly code = 'STALE_FENCING_TOKEN';

  constructor(
    /** The resource that was to be written: a Redis key, or the column that keeps the token. */
    readonly resource: string,
    /** The token that came too late. */
    readonly token: number,
    /** The newest token that the resource has seen; undefined if it does not say, as in SQL. */
    readonly newest: number | undefined,
    key?: string,
  ) {
    super(
      newest === undefined
        ? `No row was written: its "${resource}" is above fencing token ${token}, for a later holder has written it; or there is no such row.`
        : `"${resource}" was not written: fencing token ${token} is older than ${newest}, under which a later holder has written.`,
      { key: key ?? resource },
    );
  }
}
