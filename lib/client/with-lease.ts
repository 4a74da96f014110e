import { LockOptionsError } from '../errors/index.js';
import type { BaseLease } from './base-lease.js';
import type { Lease } from './lease.js';

/** Work to be done under a lease. */
export type Work<T> = (lease: Lease) => T | PromiseLike<T>;

/**
 * Runs `work` under the lease. Its result or its error always wins, save that a success after the lease
 * was lost is a `LeaseLostError` (unless `onLost` is 'ignore'). A running body is never abandoned.
 */
export async function withLease<T>(
  acquired: Promise<Lease>,
  work: Work<T>,
  onLost?: 'throw' | 'ignore',
): Promise<T> {
  const lease = (await acquired) as BaseLease;
  let result: T;
  try {
    result = await lease.run(() => refuseStream(work(lease), lease.key));
  } catch (error) {
    await lease.release();
    throw error;
  }
  await lease.finish(onLost);
  return result;
}

/**
 * The result of a body that ran under a lock.
 * @throws LockOptionsError if it is a stream: that would go on after the lock is given back.
 */
function refuseStream<T>(result: T, key: string): T {
  const isStream =
    typeof result === 'object' &&
    result !== null &&
    (Symbol.asyncIterator in result || 'subscribe' in result);
  if (!isStream) return result;
  throw new LockOptionsError(
    `The body under lock "${key}" returned a stream, which would run unlocked: consume it inside, or use @Locked.`,
  );
}
