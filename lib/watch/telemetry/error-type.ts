import { isLockError } from '../../engine/errors/lock.error.js';
import type { AcquireTrace } from '../../engine/events/lock-event.js';

/** The reason of a call without a lease, as one of few words: the code of our error, or the class of another one. Undefined for a granted call. */
export function errorType({ outcome, error }: AcquireTrace): string | undefined {
  if (outcome === 'acquired') return undefined;
  if (outcome === 'busy') return 'LOCK_NOT_ACQUIRED'; // a tryAcquire that resolves to null counts too
  if (outcome === 'aborted') return 'aborted'; // an abort's reason is the caller's own
  if (isLockError(error)) return error.code;
  return error instanceof Error ? error.constructor.name : 'unknown';
}
