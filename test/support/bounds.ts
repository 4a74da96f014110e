/**
 * Bounds of time for tests on real servers, in ms; a machine that has too much to do stays far below them. Each is shorter
 * than what the mistake would cost, so the leases, waits and pauses beside it are longer.
 */

/** For what takes a few round trips; the mistake would wait for a lease, a time-out, or for ever. */
export const SOON = 5_000;

/** For what a poll finds, which comes within 1 s; the mistake would wait for the end of a first lease, 3 s. */
export const BY_POLL = 2_500;

/** For what a timer tells when a moment has come; the mistake would tell it at the next one, or never. */
export const TIMER_LATE = 1_500;

/** For what is told at the start without a second attempt; who tries again does so for 5 s. */
export const BEFORE_START_TIMEOUT = 4_000;
