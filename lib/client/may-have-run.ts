import { LockOptionsError, LockStoreError } from '../errors/index.js';

/** Whether a step that failed may have changed something all the same, or may still. */
export function mayHaveRun(error: unknown): boolean {
  if (error instanceof LockOptionsError) return false;
  return !(error instanceof LockStoreError) || error.outcome === 'unknown';
}

/** Whether the store refused a step for good: asking again cannot help. */
export function isRefused(error: unknown): error is LockStoreError {
  return error instanceof LockStoreError && !error.retryable;
}
