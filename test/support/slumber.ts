import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import type { StallingClock } from './stalling-clock.js';
import { type Wrap, withSteps } from './world.js';

/** What asks the server, and is answered. */
const STEPS: ReadonlySet<unknown> = new Set<keyof LockStore>([
  'acquire',
  'release',
  'leave',
  'extend',
  'inspect',
  'force',
  'downgrade',
  'transfer',
  'stamp',
  'signal',
]);

/** A process that hears nothing while its machine sleeps: answers and pushes are read when it is awake. */
export const slumber: Wrap = (store, clock) => {
  const hear = (tell: () => void): void => void clock.awake().then(tell);
  return withSteps(slow(store, clock), {
    open: (listener) =>
      store.open({
        waits: (holder) => listener.waits(holder),
        grantedToNobody: (request) => listener.grantedToNobody(request),
        granted: (request, grant) => hear(() => listener.granted(request, grant)),
        forced: (holder) => hear(() => listener.forced(holder)),
        kept: (lock, rest) => hear(() => listener.kept(lock, rest)),
        reconnected: () => hear(() => listener.reconnected()),
      }),
  });
};

function slow(right: LockStore, clock: StallingClock): LockStore {
  return new Proxy(right, {
    get(own, name) {
      const member: unknown = Reflect.get(own, name);
      if (typeof member !== 'function') return member;
      const step = member.bind(own) as (...all: unknown[]) => unknown;
      if (!STEPS.has(name)) return step;
      return async (...args: unknown[]) => {
        const answer = step(...args);
        await Promise.allSettled([answer]);
        await clock.awake();
        return answer;
      };
    },
  });
}
