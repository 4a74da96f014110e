import { clearImmediate, setImmediate } from 'node:timers';
import type { Clock } from '../options/index.js';

/**
 * Runs `task` once when `ms` are over and all input that had arrived by then was read. Timers come before input in a turn
 * of Node's event loop: after a pause of the process, an answer that has arrived would count as late
 * (https://nodejs.org/en/learn/asynchronous-work/event-loop-timers-and-nexttick). Returns a function that cancels the task.
 */
export function deadline(clock: Clock, ms: number, task: () => void): () => void {
  let afterInput: NodeJS.Immediate | undefined;
  const cancel = clock.after(ms, () => {
    afterInput = setImmediate(task);
  });
  return () => {
    cancel();
    clearImmediate(afterInput);
  };
}

/** Settles as `promise` does, or as `late` does once `ms` are over. */
export function inTime<T>(
  clock: Clock,
  ms: number,
  promise: Promise<T>,
  late: () => T | Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = deadline(clock, ms, () => resolve(late()));
    promise.finally(cancel).then(resolve, reject);
  });
}
