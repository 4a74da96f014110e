import { LockOptionsError } from '../../errors/index.js';
import type { LockRequest } from '../lock-request.js';

/** The steps that a count of votes cannot make safe. */
const STEPS = {
  downgrade: 'downgrade a lock',
  transfer: 'hand a lease over',
  stamp: 'read optimistically',
  signal: 'signal a condition',
} as const;

/** True for a step that a quorum does not support. */
export function isUnsound(step: string): step is keyof typeof STEPS {
  return step in STEPS;
}

/** The error of a step that a quorum does not support. */
export function unsoundStep(step: keyof typeof STEPS): LockOptionsError {
  return unsound(STEPS[step]);
}

/** A step that a quorum does not support. */
export function rejecting(step: keyof typeof STEPS): () => Promise<never> {
  return () => Promise.reject(unsoundStep(step));
}

/** @throws LockOptionsError for locks that a quorum does not support. */
export function refuseUnsound({
  share,
  condition,
  maxWaiting = Infinity,
}: Pick<LockRequest, 'share' | 'condition' | 'maxWaiting'>): void {
  if (share) throw unsound('share a lock, by mode or by permits');
  if (condition) throw unsound('await a condition');
  if (maxWaiting < Infinity) throw unsound('count who waits (option "maxWaiting")');
}

function unsound(what: string): LockOptionsError {
  return new LockOptionsError(
    `A quorum cannot ${what}: votes of independent servers say who holds a lock alone, no more. Use a module with option "redis" for it.`,
  );
}
