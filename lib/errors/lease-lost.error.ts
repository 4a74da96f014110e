import { LockError } from './lock.error.js';

/**
 * Why a lease ended before it was released: its time ran out (`expired`), another holds the lock
 * (`taken`), an operator took it away (`forced`), it was handed over (`transferred`), it was
 * given back until a condition is signalled (`awaiting`), or the application shut down (`shutdown`).
 */
export type LossReason = 'expired' | 'taken' | 'forced' | 'transferred' | 'awaiting' | 'shutdown';

const EXPLANATION: Record<LossReason, string> = {
  expired: 'its time ran out before it could be renewed',
  taken: 'another holder has the lock now',
  forced: 'it was force-released',
  transferred: 'it was handed over',
  awaiting: 'it was given back to await a condition',
  shutdown: 'the application is shutting down',
};

/** The lease is over although the work under it was not: stop, and let the fencing token guard what was written. */
export class LeaseLostError extends LockError {
  readonly code = 'LEASE_LOST';

  constructor(
    key: string,
    readonly reason: LossReason,
  ) {
    super(`The lease on lock "${key}" is lost: ${EXPLANATION[reason]}.`, { key });
  }
}
