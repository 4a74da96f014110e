import type { Clock, Moment } from '../../lib/options/index.js';
import { withPrimitive, type Wrap } from './world.js';

/** A planted mistake: the wall clock is read with the answer or the push, not when the server was asked. */
export const datedLate: Wrap = (store, clock) => {
  const late = withPrimitive(store, {
    acquire: async (ask) => {
      const answer = await store.lock.acquire(ask);
      return answer.kind === 'held' ? { ...answer, sent: readAt(clock, answer.sent) } : answer;
    },
    extend: async (claims) => {
      const { remaining, sent } = await store.lock.extend(claims);
      return { remaining, sent: readAt(clock, sent) };
    },
  });
  late.open = (listener) =>
    store.open({
      ...listener,
      granted: (claim, { sent, ...grant }) =>
        listener.granted(claim, { ...grant, sent: readAt(clock, sent) }),
    });
  return late;
};

/** As if the clocks had not parted since; a doubtful moment is now. */
function readAt(clock: Clock, sent: Moment | undefined): Moment {
  const monotonic = sent?.monotonic ?? clock.monotonic();
  return { monotonic, wall: clock.wall() - (clock.monotonic() - monotonic) };
}
