import type { Clock, Moment } from '../../lib/engine/options/index.js';
import { withSteps, type Wrap } from './world.js';

/** A planted mistake: the wall clock is read with the answer or the push, not when the server was asked. */
export const datedLate: Wrap = (store, clock) =>
  withSteps(store, {
    acquire: async (ask) => {
      const answer = await store.acquire(ask);
      return answer.kind === 'held' ? { ...answer, sent: readAt(clock, answer.sent) } : answer;
    },
    extend: async (requests) => {
      const { remaining, sent } = await store.extend(requests);
      return { remaining, sent: readAt(clock, sent) };
    },
    open: (listener) =>
      store.open({
        ...listener,
        granted: (request, grant) =>
          listener.granted(request, grant && { ...grant, sent: readAt(clock, grant.sent) }),
      }),
  });

/** As if the clocks had not parted since. */
function readAt(clock: Clock, { monotonic }: Moment): Moment {
  return { monotonic, wall: clock.wall() - (clock.monotonic() - monotonic) };
}
