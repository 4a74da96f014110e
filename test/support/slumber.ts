import type { LockPrimitive } from '../../lib/locks/lock-primitive.js';
import { type Wrap, withPrimitive } from './world.js';

/** A process that hears nothing while its machine sleeps: answers and pushes are read when it is awake. */
export const slumber: Wrap = (store, clock) => {
  const heard =
    <Args extends unknown[]>(tell: (...args: Args) => void) =>
    (...args: Args): void =>
      void clock.awake().then(() => tell(...args));
  const steps = new Proxy(store.lock, {
    get(lock, name: keyof LockPrimitive) {
      const step = lock[name].bind(lock) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => step(...args).finally(() => clock.awake());
    },
  });
  return {
    ...withPrimitive(store, steps),
    lock: steps,
    open: (listener) =>
      store.open({
        granted: heard(listener.granted),
        forced: heard(listener.forced),
        kept: heard(listener.kept),
        reconnected: heard(listener.reconnected),
      }),
  };
};
