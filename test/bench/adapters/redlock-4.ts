import Redlock from 'redlock-4';
import { type Adapter, TTL } from './adapter.js';
import { peer } from './peer.js';
import { TIRELESS } from './redlock-5-family.js';

function variant(name: string, configuration: string, options: object): Adapter {
  return peer({ name, configuration, renews: false, gaveUp: Redlock.LockError }, (clients) => {
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
  variant('redlock 4', '', {}),
  variant('redlock 4 tuned', TIRELESS.configuration, TIRELESS.settings),
];
