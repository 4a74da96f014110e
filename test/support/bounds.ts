import type { World } from './world.js';

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

// For the contracts. What is promised to the millisecond is held where time stands still, in memory; on a real server
// these only end what would hang.

/** Within this happens what has to happen at all, in ms. */
export const PATIENCE = 30_000;

/** What a planted mistake on a real server is given to show itself, in ms: each that makes something hang takes this long. */
export const SHORT_PATIENCE = 1_500;

/** How long a command may take, in ms: on a busy machine none is late, but where a test says how late. */
export const COMMAND = 10_000;

/** The lease of a test that lets time pass by `world.pass`, in ms: a third of it is no busy machine's delay. */
export const TTL = 30_000;

/** Longer than a poll, in ms: who waits has asked again. */
export const POLL = 1_000;

/** After so much silence a process is taken for dead, in ms. */
export const DEAD = 3_000;

/** What a promise of `ms` is bounded by: itself where time stands still, what ends a hanging test on a real server. */
export function atMost(world: World, ms: number): number {
  return world.redis ? ms + PATIENCE : ms;
}
