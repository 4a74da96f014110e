import { AsyncResource } from 'node:async_hooks';

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
export function detached<T>(task: () => T): T {
  return outside.runInAsyncScope(task);
}

const outside = new AsyncResource('nest-redis-lock', { requireManualDestroy: true });
// It only carries a context: "jest --detectOpenHandles" must not name it as something left open.
outside.emitDestroy();

/** Lets a timer keep no process alive. The timers of jsdom are numbers, which cannot be told so. */
export function inBackground<T extends object | number>(timer: T): T {
  if (typeof timer === 'object' && 'unref' in timer) (timer as NodeJS.Timeout).unref();
  return timer;
}

const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after(ms, task) {
    const timer = detached(() => inBackground(setTimeout(task, Math.min(ms, LONGEST_TIMER))));
    return () => clearTimeout(timer);
  },
};
