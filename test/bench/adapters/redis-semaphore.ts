import type { Redis } from 'ioredis';
import semaphore from 'redis-semaphore';
import { type Adapter, type Release, TTL } from './adapter.js';
import { peer } from './peer.js';

const { Mutex, RedlockMutex, TimeoutError } = semaphore;

function variant(name: string, configuration: string, renews: boolean, options: object): Adapter {
  return peer({ name, configuration, renews, gaveUp: TimeoutError }, (clients) => {
    const lock = (key: string, lockTimeout: number): Promise<Release> =>
      acquired(clients, key, { lockTimeout, ...options });
    return { acquire: (key) => lock(key, TTL), ...(renews && { hold: lock }) };
  });
}

async function acquired(clients: Redis[], key: string, options: object): Promise<Release> {
  const [first, ...more] = clients;
  const mutex =
    more.length > 0 ? new RedlockMutex(clients, key, options) : new Mutex(first!, key, options);
  await mutex.acquire();
  return () => mutex.release();
}

export const redisSemaphore = [
  variant('redis-semaphore', '', true, {}),
  variant('redis-semaphore tuned', 'every 5 ms, no renewal', false, {
    retryInterval: 5,
    refreshInterval: 0,
  }),
];
