import { LockNotAcquiredError } from '../errors/index.js';
import type { CallSettings, Clock } from '../options/index.js';
import type { BaseLease } from './base-lease.js';
import { MultiLease } from './multi-lease.js';

/** How one of the locks is acquired. */
type Acquire = (key: string, call: CallSettings) => Promise<BaseLease>;

/**
 * All of the locks, or none: all are asked for at once, which is one round trip when they are free. Else what
 * comes behind the first that was refused is given back, and the rest is waited for one by one, in the order
 * of the keys: two callers who want the same locks never wait for each other, however they name them.
 * @throws what the first failure throws, after everything has been given back.
 */
export async function acquireMany(
  keys: readonly string[],
  call: CallSettings,
  clock: Clock,
  acquire: Acquire,
): Promise<BaseLease> {
  const from = clock.monotonic();
  const asked = await Promise.allSettled(keys.map((key) => acquire(key, { ...call, wait: 0 })));
  const first = asked.findIndex(({ status }) => status === 'rejected');
  const leases = asked.map((result) => (result.status === 'fulfilled' ? result.value : undefined));
  const held = leases.slice(0, first === -1 ? keys.length : first) as BaseLease[];
  const behind = leases.slice(held.length).filter((lease) => lease !== undefined);
  try {
    await Promise.all(behind.map((lease) => lease.release('unused')));
    const failure = asked.find((result) => result.status === 'rejected' && !isBusy(result.reason));
    if (failure) throw (failure as PromiseRejectedResult).reason;
    if (first !== -1 && call.wait === 0) throw (asked[first] as PromiseRejectedResult).reason;
    for (const key of keys.slice(held.length)) {
      const wait = Math.max(0, call.wait - (clock.monotonic() - from));
      held.push(await acquire(key, { ...call, wait }));
    }
    const lease = new MultiLease(held);
    lease.assertHeld(); // the first may be over before the last is held
    return lease;
  } catch (error) {
    const waited = Math.round(clock.monotonic() - from);
    await Promise.all(held.map((lease) => lease.release('unused')));
    if (!isBusy(error) || call.wait === 0) throw error;
    throw new LockNotAcquiredError(error.key!, waited, call.wait, error.permits);
  }
}

function isBusy(error: unknown): error is LockNotAcquiredError {
  return error instanceof LockNotAcquiredError;
}
