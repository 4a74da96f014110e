import { LockOptionsError, LockStoreError } from '../errors/index.js';

/** Whether a step that failed may have changed something all the same, or may still. */
export function mayHaveRun(error: unknown): boolean {
  if (error instanceof LockOptionsError) return false;
  return !(error instanceof LockStoreError) || error.outcome === 'unknown';
}
