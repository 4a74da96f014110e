import { LockNotAcquiredError } from '../errors/index.js';
import type { CallSettings } from '../options/index.js';
import { Section } from './section.js';

/**
 * The outcome of a call that is made by code under leases of this owner. A call that waits in vain may have waited for
 * itself, or for callers that wait for it in turn: its error names the locks that this code holds.
 */
export async function nestedWait<T>(
  coming: Promise<T>,
  { wait }: CallSettings,
  owner: object,
): Promise<T> {
  try {
    return await coming;
  } catch (error) {
    if (!(error instanceof LockNotAcquiredError)) throw error;
    const held = [...Section.heldAround(owner)];
    if (held.length === 0) throw error;
    throw new LockNotAcquiredError(error.key!, error.waited, wait, error.permits, held);
  }
}
