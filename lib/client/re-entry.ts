import type { CallSettings, Clock } from '../options/index.js';
import type { HeldLocks } from './held-locks.js';
import type { Section } from './section.js';
import { SingleLease } from './single-lease.js';

/**
 * One more lease on what the code around holds; undefined if that was given back while the call waited for its siblings.
 * @throws LockUpgradeError, `signal.reason`, LeaseLostError if the lock was lost.
 */
export async function reenter(
  section: Section,
  call: CallSettings,
  heldLocks: HeldLocks,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<SingleLease | undefined> {
  signal?.throwIfAborted();
  const { heldLock } = section;
  const from = clock.monotonic();
  const leaveTurn = await section.enter(call, signal, clock);
  if (!leaveTurn) return undefined;
  const lease = new SingleLease(heldLocks, heldLock, clock.monotonic() - from, leaveTurn);
  if ((await lease.confirmed()) && !signal?.aborted) return lease;
  void lease.release('unused');
  signal?.throwIfAborted();
  if (heldLock.state === 'awaiting') return undefined;
  throw heldLock.lossError();
}
