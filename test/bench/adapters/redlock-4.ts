import { Redis } from 'ioredis';
import Redlock from 'redlock-4';
import { type Adapter, TTL } from './adapter.js';

function variant(name: string, configuration: string, options: object): Adapter {
  return {
    name,
    configuration,
    waits: true,
    async open(url) {
      const client = new Redis(url);
      const redlock = new Redlock([client], options);
      return {
        async acquire(key) {
          try {
            const lock = await redlock.lock(key, TTL);
            return () => lock.unlock();
          } catch (error) {
            if (error instanceof Redlock.LockError) return undefined;
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

export const redlock4 = variant('redlock 4', '', {});
export const redlock4Tuned = variant('redlock 4 tuned', 'retries without end, 10 ± 5 ms', {
  retryCount: -1,
  retryDelay: 10,
  retryJitter: 5,
});
