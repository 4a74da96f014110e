import Redlock from 'redlock-4';
import { type Adapter, TTL } from './adapter.js';
import { peer, type Variant } from './peer.js';
import { TIRELESS } from './redlock-5-family.js';

function variant(
  said: Pick<Variant, 'name' | 'configuration' | 'asksOtherwise'>,
  options: object,
): Adapter {
  return peer({ ...said, renews: false, gaveUp: Redlock.LockError }, (clients) => {
    const redlock = new Redlock(clients, options);
    return {
      async acquire(key) {
        const lock = await redlock.lock(key, TTL);
        return () => lock.unlock();
      },
    };
  });
}

export const redlock4 = [
  variant({ name: 'redlock 4', configuration: '' }, {}),
  variant({ name: 'redlock 4 tuned', ...TIRELESS.said }, TIRELESS.settings),
];
