import { abortWith, type CallSettings, type Clock, throwIfAborted } from '../options/index.js';
import type { BaseLease } from './lease.js';
import type { HeldLocks } from './held-locks.js';
import type { Section } from './section.js';
import { SingleLease } from './single-lease.js';

/**
 * One more lease on what the code around holds; undefined if that was given back while the call waited for its siblings. The
 * call's `wait` counts from `from`.
 * @throws LockUpgradeError, `signal.reason`, LeaseLostError if the lock was lost.
 */
export async function reenter(
  section: Section,
  call: CallSettings,
  heldLocks: HeldLocks,
  clock: Clock,
  signal: AbortSignal | undefined,
  from: number,
): Promise<SingleLease | undefined> {
  throwIfAborted(signal);
  const leaveTurn = await section.enter(call, signal, clock, from);
  if (!leaveTurn) return undefined;
  const { heldLock } = section;
  const lease = new SingleLease(heldLocks, heldLock, clock.monotonic() - from, leaveTurn);
  if ((await lease.confirmed()) && !signal?.aborted) return lease;
  void lease.release('unused');
  throwIfAborted(signal);
  if (heldLock.state === 'awaiting') return undefined;
  throw heldLock.lossError();
}

/** Why a call for locks that were all held around it begins anew: one of them is not any more. */
export const GIVEN_BACK = Symbol('given back');
/** Why a sibling that waits like a stranger ends that. */
const HELD_AGAIN = Symbol('held again');

/**
 * Waits as a stranger would, because the code around does not hold the lock. Undefined when that holds it again, after it
 * awaited a condition say: it may end only after the caller, so the caller has to enter it.
 */
export async function waitBeside(
  section: Section,
  signal: AbortSignal | undefined,
  wait: (signal: AbortSignal) => Promise<BaseLease>,
): Promise<BaseLease | undefined> {
  const again = new AbortController();
  const callOffs = [
    section.heldLock.whenTurns(() => again.abort(HELD_AGAIN)),
    abortWith(again, signal),
  ];
  try {
    return await wait(again.signal);
  } catch (error) {
    if (error !== HELD_AGAIN) throw error;
    return undefined;
  } finally {
    for (const callOff of callOffs) callOff();
  }
}
