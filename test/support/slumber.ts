import type { LockPrimitive } from '../../lib/locks/lock-primitive.js';
import { type Wrap, withPrimitive } from './world.js';

/** A process that hears nothing while its machine sleeps: answers and pushes are read when it is awake. */
export const slumber: Wrap = (store, clock) => {
  const hear = (tell: () => void): void => void clock.awake().then(tell);
  const steps = new Proxy(store.lock, {
    get(lock, name: keyof LockPrimitive) {
      if (name === 'batches') return lock.batches.bind(lock); // asks nobody
      const step = lock[name].bind(lock) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        const answer = step(...args);
        await Promise.allSettled([answer]);
        await clock.awake();
        return answer;
      };
    },
  });
  return {
    ...withPrimitive(store, steps),
    lock: steps,
    open: (listener) =>
      store.open({
        granted: (request, grant) => hear(() => listener.granted(request, grant)),
        forced: (holder) => hear(() => listener.forced(holder)),
        kept: (lock, rest) => hear(() => listener.kept(lock, rest)),
        reconnected: () => hear(() => listener.reconnected()),
      }),
  };
};
