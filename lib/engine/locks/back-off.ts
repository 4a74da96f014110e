import type { Queued } from './lock-store.js';
import type { LockRequest } from './lock-request.js';

/** The shortest and the longest average pause, in ms, and the part of the time waited that it grows with. */
const PAUSE = { shortest: 8, longest: 60, growth: 0.02 };

/** How long to wait before the next attempt, in ms: at random, so that contenders who split the votes do not meet again. */
export function backOff(waited: number): number {
  const mean = Math.min(PAUSE.longest, PAUSE.shortest + waited * PAUSE.growth);
  return mean * 2 * Math.random();
}

/**
 * The answer to who waits where there is no queue: it asks again after such a pause, or as soon as the lock ends by
 * itself, if it does (`left` ms); without the pause where it is `told` when it is given back. It is enqueued at the moment
 * of its first ask.
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
