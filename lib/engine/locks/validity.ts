import { type Clock, type Moment, partedSince } from '../options/index.js';
import { DRIFT_LEAST, DRIFT_SHARE } from '../protocol/constants.js';

/** How much longer than requested a lease may last, in ms: the request before may have been slow, and this one fast. */
export const SLACK = 1_000;

/** The length of a lease by the server: `remaining` ms were left when it was read, which was not before `sent`. */
export interface Term {
  readonly sent: Moment;
  readonly remaining: number;
}

/**
 * The state of a lease by the local clocks. `doubtful`: the clocks have parted since the server was asked, because the machine
 * slept or a clock was set; only the server knows whether the lease lasts.
 */
export type Validity = 'valid' | 'doubtful' | 'expired';

/** The allowed difference of clocks over a lease, in ms (Redlock's drift, redis.io/docs). */
function drift(lease: number): number {
  return lease * DRIFT_SHARE + DRIFT_LEAST;
}

/** The deadline of a lease on the monotonic clock. */
export function deadlineOf({ sent, remaining }: Term): number {
  return sent.monotonic + remaining - drift(remaining);
}

/**
 * Compares both clocks with their readings at the time of the ask. The monotonic clock may stand still while the machine
 * sleeps. The wall clock goes on, but may be set: ahead, which ends the lease early, or back, which could hide a sleep.
 */
export function validityOf(term: Term, clock: Clock): Validity {
  return validityAt(term, readClocks(clock));
}

/** Reads both clocks, to judge leases by. */
export function readClocks(clock: Clock): Moment {
  const monotonic = clock.monotonic(); // this clock is read first, so that a pause between the two can only make a lease shorter
  return { monotonic, wall: clock.wall() };
}

/** As {@link validityOf}, at a given moment: many leases share one reading of the clocks. */
export function validityAt(term: Term, now: Moment): Validity {
  const left = deadlineOf(term) - now.monotonic;
  if (left <= 0) return 'expired';
  const parted = partedSince(term.sent, now);
  return parted < left && parted >= -drift(term.remaining) ? 'valid' : 'doubtful';
}
