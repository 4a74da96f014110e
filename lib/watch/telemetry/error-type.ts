import { isLockError } from '../../engine/errors/lock.error.js';
import type { AcquireTrace } from '../../engine/events/lock-event.js';

/** Why a call has no lease, in one of few words: the code of our error, or the class of another one. Undefined if it has one. */
export function errorType({ outcome, error }: AcquireTrace): string | undefined {
  if (outcome === 'acquired') return undefined;
  if (outcome === 'busy') return 'LOCK_NOT_ACQUIRED'; // also where tryAcquire answers null
  if (outcome === 'aborted') return 'aborted'; // the reason is the caller's
  if (isLockError(error)) return error.code;
  return error instanceof Error ? error.constructor.name : 'unknown';
}
