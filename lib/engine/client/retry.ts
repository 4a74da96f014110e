import { LockOptionsError, LockStoreError } from '../errors/index.js';

/** The pause after a first failure and the longest one, in ms. */
const PAUSE = { first: 100, longest: 1_000 };

/**
 * The pause before a step that failed is tried again, in ms, however many times it failed before: twice as long each time up to the
 * longest; at random up to twice that, so that the processes that an outage stopped do not come back at once.
 */
export function pauseAfter(failures: number): number {
  return Math.min(PAUSE.longest, PAUSE.first * 2 ** failures) * (1 + Math.random());
}

/** Whether a step that failed may have changed something all the same, or may still. */
export function mayHaveRun(error: unknown): boolean {
  if (error instanceof LockOptionsError) return false;
  return !(error instanceof LockStoreError) || error.outcome === 'unknown';
}

/** Called with what the store refuses for good while nobody waits for its answer. */
export type OnRefused = (error: LockStoreError, step: 'release' | 'renewal') => void;

/** Whether a step that failed may do better when it is tried again. */
export function isRetryable(error: unknown): error is LockStoreError {
  return error instanceof LockStoreError && error.retryable;
}

/** Whether the store refused a step for good: asking again cannot help. */
export function isRefused(error: unknown): error is LockStoreError {
  return error instanceof LockStoreError && !error.retryable;
}
