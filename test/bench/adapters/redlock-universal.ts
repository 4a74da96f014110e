import { createLock, IoredisAdapter, LockAcquisitionError } from 'redlock-universal';
import { type Adapter, TTL } from './adapter.js';
import { holdWithin, peer } from './peer.js';

function variant(name: string, configuration: string, options: object): Adapter {
  const said = { name, configuration, renews: true, gaveUp: LockAcquisitionError };
  return peer(said, (client) => {
    const adapter = IoredisAdapter.from(client);
    const locks = new Map<string, ReturnType<typeof createLock>>();
    return {
      async acquire(key) {
        let lock = locks.get(key);
        if (!lock) locks.set(key, (lock = createLock({ adapter, key, ttl: TTL, ...options })));
        const handle = await lock.acquire();
        return () => lock.release(handle);
      },
      hold: (key, ttl) =>
        holdWithin((routine) => createLock({ adapter, key, ttl, ...options }).using(routine)),
    };
  });
}

export const redlockUniversal = [
  variant('redlock-universal', '', {}),
  variant('redlock-universal tuned', 'lean, retries without end, 10 ms', {
    performance: 'lean',
    retryAttempts: 1_000_000,
    retryDelay: 10,
  }),
];
