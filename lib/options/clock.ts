import { AsyncLocalStorage } from 'node:async_hooks';

/** The source of time. Tests of an application replace it by a `ManualClock`. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. They never go back and never jump. */
  monotonic(): number;
  /** Milliseconds since the epoch. They go on while the machine sleeps, and jump when somebody sets the clock. */
  wall(): number;
  /** Runs `task` once after `ms` milliseconds and keeps no process alive. Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void;
}

/** A moment on both clocks of a process. Later they are further apart if the machine slept in between. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

export function momentOf(clock: Clock): Moment {
  const wall = clock.wall(); // first: a pause between the two may only make a lease shorter
  return { monotonic: clock.monotonic(), wall };
}

/** How many ms the wall clock has gained on the monotonic clock since `moment`: above 0 after a sleep, below 0 after a clock set back. */
export function partedSince(moment: Moment, now: Moment): number {
  return now.wall - now.monotonic - (moment.wall - moment.monotonic);
}

/**
 * Runs a function outside the request it was called in: what lives longer than a request (a
 * connection, a timer for many) must not carry that request's context along, nor run others in it.
 */
export const detached = AsyncLocalStorage.snapshot();

const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after(ms, task) {
    const timer = detached(() => setTimeout(task, Math.min(ms, LONGEST_TIMER)).unref());
    return () => clearTimeout(timer);
  },
};
