import { type Clock, type Moment, partedSince } from '../options/index.js';
import { DRIFT_LEAST, DRIFT_SHARE } from '../protocol/constants.js';

/** What the server said of a lease: `remaining` ms were left when it was read, which was not before `sent`. */
export interface Term {
  readonly sent: Moment;
  readonly remaining: number;
}

/**
 * What the clocks say of a lease. `doubtful`: they have parted since the server was asked, because the machine slept or
 * somebody set its clock; only the server knows whether the lease lasts.
 */
export type Validity = 'valid' | 'doubtful' | 'expired';

/** By how much clocks may differ over a lease (Redlock's drift, redis.io/docs). */
function drift(lease: number): number {
  return lease * DRIFT_SHARE + DRIFT_LEAST;
}

/** The last moment of a lease on the monotonic clock. */
export function deadlineOf({ sent, remaining }: Term): number {
  return sent.monotonic + remaining - drift(remaining);
}

/**
 * Compares the two clocks, now and when the server was asked. The monotonic one may stand still while the machine sleeps;
 * the wall clock goes on, but may be set: ahead, which ends the lease early, or back, which could hide a sleep.
 */
export function validityOf(term: Term, clock: Clock): Validity {
  return validityAt(term, readClocks(clock));
}

/** Both clocks, to judge leases by. */
export function readClocks(clock: Clock): Moment {
  const monotonic = clock.monotonic(); // before the wall clock: a pause between the two may only make a lease shorter
  return { monotonic, wall: clock.wall() };
}

/** The same at a moment that has been read: many leases at once cost one reading of the clocks. */
export function validityAt(term: Term, now: Moment): Validity {
  const left = deadlineOf(term) - now.monotonic;
  if (left <= 0) return 'expired';
  const parted = partedSince(term.sent, now);
  return parted < left && parted >= -drift(term.remaining) ? 'valid' : 'doubtful';
}
