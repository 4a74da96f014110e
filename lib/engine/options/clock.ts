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

/** A moment on both clocks of a process. The wall clock gains on the monotonic one while the machine sleeps. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

export function momentOf(clock: Clock): Moment {
  const wall = clock.wall(); // this clock is read first, so that a pause between the two can only make a lease shorter
  return { monotonic: clock.monotonic(), wall };
}

/** How many ms the wall clock has gained on the monotonic clock since `moment`: above 0 after a sleep, below 0 after a clock set back. */
export function partedSince(moment: Moment, now: Moment): number {
  return now.wall - now.monotonic - (moment.wall - moment.monotonic);
}

/**
 * Runs a function outside the request it was called in. A connection or a shared timer outlives that request: it must not
 * keep the request's context, nor run other calls in it.
 */
export function detached<T>(task: () => T): T {
  return outside.runInAsyncScope(task);
}

const outside = new AsyncResource('nest-redis-lock', { requireManualDestroy: true });
// The resource only carries a context: "jest --detectOpenHandles" must not report it as left open.
outside.emitDestroy();

/** Lets a timer keep no process alive. jsdom's timers are numbers, which have no `unref`. */
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
