import type { Queued } from './lock-store.js';
import type { LockRequest } from './lock-request.js';

/** The shortest and longest average pause, in ms, and its growth as a part of the time waited. */
const PAUSE = { shortest: 8, longest: 60, growth: 0.02 };

/** A random pause before the next attempt, in ms, so that contenders who split the votes do not meet again. */
export function backOff(waited: number): number {
  const mean = Math.min(PAUSE.longest, PAUSE.shortest + waited * PAUSE.growth);
  return mean * 2 * Math.random();
}

/**
 * The answer to a waiter where there is no queue: the waiter asks again after a random pause, or when the lock ends by itself
 * in `left` ms. With `told`, a release is announced, and the pause is left out. The waiter's arrival is the moment of its first
 * ask.
 */
export function askAgain(
  { enqueuedAt }: LockRequest,
  now: number,
  left = -1,
  told = false,
): Queued {
  const since = enqueuedAt === undefined ? now : Number(enqueuedAt);
  const pause = told ? Infinity : backOff(now - since);
  const remaining = left >= 0 ? Math.min(left, pause) : pause;
  return { kind: 'queued', remaining, enqueuedAt: String(since), rank: 0, requeued: false };
}
