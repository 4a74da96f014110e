import { detached } from './detached.js';

/** Where time comes from; tests of an application put a clock of their own here. */
export interface Clock {
  /** Milliseconds that never go back and never jump; 0 is arbitrary. */
  monotonic(): number;
  /** Milliseconds since the epoch; may be set by anybody, but keeps counting while the machine sleeps. */
  wall(): number;
  /** Runs `task` once after `ms`; keeps no process alive. Returns how to cancel it. */
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

/** By how much the clocks have parted since: more if the machine slept or its clock was set ahead, less if that was set back. */
export function partedSince(moment: Moment, now: Moment): number {
  return now.wall - now.monotonic - (moment.wall - moment.monotonic);
}

const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after(ms, task) {
    const timer = detached(() => setTimeout(task, Math.min(ms, LONGEST_TIMER)).unref());
    return () => clearTimeout(timer);
  },
};
