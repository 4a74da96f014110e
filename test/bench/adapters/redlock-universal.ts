import { createLock, createRedlock, IoredisAdapter, LockAcquisitionError } from 'redlock-universal';
import { type Adapter, TTL } from './adapter.js';
import { holdWithin, peer } from './peer.js';

type Lock = ReturnType<typeof createLock | typeof createRedlock>;

function variant(name: string, configuration: string, options: object): Adapter {
  const said = { name, configuration, renews: true, gaveUp: LockAcquisitionError };
  return peer(said, (clients) => {
    const adapters = clients.map((client) => IoredisAdapter.from(client));
    const lockOf = (key: string, ttl: number): Lock =>
      adapters.length > 1
        ? createRedlock({ adapters, key, ttl, ...options })
        : createLock({ adapter: adapters[0]!, key, ttl, ...options });
    const locks = new Map<string, Lock>();
    return {
      async acquire(key) {
        let lock = locks.get(key);
        if (!lock) locks.set(key, (lock = lockOf(key, TTL)));
        const handle = await lock.acquire();
        return () => lock.release(handle);
      },
      hold: (key, ttl) => holdWithin((routine) => lockOf(key, ttl).using(routine)),
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
