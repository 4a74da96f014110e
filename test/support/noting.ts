import { type Wrap, withSteps } from './world.js';

/** Notes what a process sends: `yield` is an ask that gives a lease back in the same step. */
export function noting(steps: string[]): Wrap {
  return (store) => {
    const noted = <T>(step: string, answer: Promise<T>): Promise<T> => {
      steps.push(step);
      return answer;
    };
    return withSteps(store, {
      acquire: (ask) => noted(ask.former ? 'yield' : 'acquire', store.acquire(ask)),
      release: (request, keep, served) => noted('release', store.release(request, keep, served)),
      leave: (request, served) => noted('leave', store.leave(request, served)),
      extend: (requests) => noted('extend', store.extend(requests)),
    });
  };
}
