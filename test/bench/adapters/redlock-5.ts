import { Redis } from 'ioredis';
import Redlock, { ExecutionError } from 'redlock-5';
import { type Adapter, TTL } from './adapter.js';

function variant(name: string, configuration: string, settings: object): Adapter {
  return {
    name,
    configuration,
    waits: true,
    async open(url) {
      const client = new Redis(url);
      const redlock = new Redlock([client], settings);
      return {
        async acquire(key) {
          try {
            const lock = await redlock.acquire([key], TTL);
            return () => lock.release();
          } catch (error) {
            if (error instanceof ExecutionError) return undefined;
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

export const redlock5 = variant('redlock 5', '', {});
export const redlock5Tuned = variant('redlock 5 tuned', 'retries without end, 10 ± 5 ms', {
  retryCount: -1,
  retryDelay: 10,
  retryJitter: 5,
});
