import { type Wrap, withPrimitive } from './world.js';

/** Notes what a process sends: `yield` is an ask that gives a lease back in the same step. */
export function noting(steps: string[]): Wrap {
  return (store) => {
    const { lock } = store;
    const noted = <T>(step: string, answer: Promise<T>): Promise<T> => {
      steps.push(step);
      return answer;
    };
    return withPrimitive(store, {
      acquire: (ask) => noted(ask.former ? 'yield' : 'acquire', lock.acquire(ask)),
      release: (request, keep, served) => noted('release', lock.release(request, keep, served)),
      leave: (request, served) => noted('leave', lock.leave(request, served)),
      extend: (requests) => noted('extend', lock.extend(requests)),
    });
  };
}
