import { Redis } from 'ioredis';
import semaphore from 'redis-semaphore';
import { type Adapter, TTL } from './adapter.js';

const { Mutex, TimeoutError } = semaphore;

function variant(name: string, configuration: string, options: object): Adapter {
  return {
    name,
    configuration,
    waits: true,
    async open(url) {
      const client = new Redis(url);
      return {
        async acquire(key) {
          const mutex = new Mutex(client, key, { lockTimeout: TTL, ...options });
          try {
            await mutex.acquire();
            return () => mutex.release();
          } catch (error) {
            if (error instanceof TimeoutError) return undefined;
            throw error;
          }
        },
        async close() {
          await client.quit();
        },
      };
    },
  };
}

export const redisSemaphore = variant('redis-semaphore', '', {});
export const redisSemaphoreTuned = variant('redis-semaphore tuned', 'every 5 ms, no renewal', {
  retryInterval: 5,
  refreshInterval: 0,
});
