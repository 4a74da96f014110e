import { Redis } from 'ioredis';
import { createLock, IoredisAdapter, LockAcquisitionError } from 'redlock-universal';
import { type Adapter, TTL } from './adapter.js';

function variant(name: string, configuration: string, options: object): Adapter {
  return {
    name,
    configuration,
    waits: true,
    async open(url) {
      const client = new Redis(url);
      const adapter = IoredisAdapter.from(client);
      const locks = new Map<string, ReturnType<typeof createLock>>();
      return {
        async acquire(key) {
          let lock = locks.get(key);
          if (!lock) locks.set(key, (lock = createLock({ adapter, key, ttl: TTL, ...options })));
          const taken = lock;
          try {
            const handle = await taken.acquire();
            return () => taken.release(handle);
          } catch (error) {
            if (error instanceof LockAcquisitionError) return undefined;
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

export const redlockUniversal = variant('redlock-universal', '', {});
export const redlockUniversalTuned = variant(
  'redlock-universal tuned',
  'lean, retries without end, 10 ms',
  { performance: 'lean', retryAttempts: 1_000_000, retryDelay: 10 },
);
