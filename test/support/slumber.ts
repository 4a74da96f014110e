import type { LockStrategy } from '../../lib/locks/lock-primitive.js';
import type { StallingClock } from './stalling-clock.js';
import type { Wrap } from './world.js';

/** A process that hears nothing while its machine sleeps: answers and pushes are read when it is awake. */
export const slumber: Wrap = (store, clock) => {
  const hear = (tell: () => void): void => void clock.awake().then(tell);
  const strategy: typeof store.lock.strategy = (kind) => slow(store.lock.strategy(kind), clock);
  return {
    lock: Object.assign(slow(store.lock, clock), { strategy }),
    processId: store.processId,
    get ready() {
      return store.ready;
    },
    names: (search) => store.names(search),
    pushMissed: () => store.pushMissed(),
    describe: () => store.describe(),
    close: () => store.close(),
    open: (listener) =>
      store.open({
        granted: (request, grant) => hear(() => listener.granted(request, grant)),
        forced: (holder) => hear(() => listener.forced(holder)),
        kept: (lock, rest) => hear(() => listener.kept(lock, rest)),
        reconnected: () => hear(() => listener.reconnected()),
      }),
  };
};

function slow<Steps extends LockStrategy>(right: Steps, clock: StallingClock): Steps {
  return new Proxy(Object.create(right) as Steps, {
    get(own, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name) as unknown;
      const step = (Reflect.get(right, name) as (...all: unknown[]) => Promise<unknown>).bind(
        right,
      );
      if (name === 'batches') return step; // asks nobody
      return async (...args: unknown[]) => {
        const answer = step(...args);
        await Promise.allSettled([answer]);
        await clock.awake();
        return answer;
      };
    },
  });
}
