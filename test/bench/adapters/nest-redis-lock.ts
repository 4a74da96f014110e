import { NestFactory } from '@nestjs/core';
import type { RedisLockOptions } from '../../../lib/index.js';
import { type Adapter, TTL } from './adapter.js';
import { library } from './library.js';
import { unlessThrown } from './peer.js';

function variant(name: string, configuration: string, options: RedisLockOptions): Adapter {
  return {
    name,
    configuration,
    waits: true,
    renews: true,
    async open(servers) {
      const { LockNotAcquiredError, LockService, RedisLockModule } = await library();
      const where = servers.length > 1 ? { nodes: servers } : { redis: servers[0] };
      const app = await NestFactory.createApplicationContext(
        RedisLockModule.forRoot({ ...where, ttl: TTL, ...options }),
        { logger: false },
      );
      const locks = app.get(LockService);
      return {
        async acquire(key) {
          const lease = await unlessThrown(LockNotAcquiredError, locks.acquire(key));
          return lease && (() => lease.release());
        },
        async hold(key, ttl) {
          const lease = await locks.acquire(key, { ttl });
          return () => lease.release();
        },
        close: () => app.close(),
      };
    },
  };
}

export const nestRedisLock = variant('nest-redis-lock', '', {});
export const strictlyFair = variant('nest-redis-lock strict', "fairness: 'strict'", {
  fairness: 'strict',
});
export const withoutFencing = variant('nest-redis-lock −fencing', 'fencing: false', {
  fencing: false,
});
