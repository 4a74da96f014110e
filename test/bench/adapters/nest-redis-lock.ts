import { NestFactory } from '@nestjs/core';
import type { Lease, RedisLockOptions } from '../../../lib/index.js';
import { OURS } from '../variants.js';
import { type Adapter, type Ioredis, TTL } from './adapter.js';
import { library } from './library.js';
import { unlessThrown } from './peer.js';

interface Setting extends Pick<Adapter, 'name' | 'configuration' | 'waits'> {
  readonly options?: RedisLockOptions;
  readonly ioredis?: Ioredis;
  /** Each call has a label, and the application listens to the events of locks. */
  readonly listened?: true;
}

function variant({ options, listened, ...said }: Setting): Adapter {
  return {
    ...said,
    renews: true,
    async open(servers) {
      const { LockNotAcquiredError, LockService, RedisLockModule } = await library();
      const where = servers.length > 1 ? { nodes: servers } : { redis: servers[0] };
      const app = await NestFactory.createApplicationContext(
        RedisLockModule.forRoot({ ...where, ttl: TTL, ...options }),
        { logger: false },
      );
      const locks = app.get(LockService);
      if (listened) for (const event of HEARD) locks.events.on(event, () => {});
      const call = listened && { label: 'accounts.debit' };
      const acquire = (key: string): Promise<Lease | null | undefined> =>
        said.waits
          ? unlessThrown(LockNotAcquiredError, locks.acquire(key, call))
          : locks.tryAcquire(key);
      return {
        async acquire(key) {
          const lease = await acquire(key);
          return lease ? () => lease.release() : undefined;
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

const UNFENCED = { fencing: false } as const;
/** What a log of locks would listen to. */
const HEARD = ['acquired', 'contended', 'timedOut', 'released', 'lost'] as const;

export const nestRedisLock = variant({ name: OURS.byDefault, configuration: '', waits: true });
export const strictlyFair = variant({
  name: OURS.strict,
  configuration: "fairness: 'strict'",
  options: { fairness: 'strict' },
  waits: true,
});
export const withoutFencing = variant({
  name: OURS.unfenced,
  configuration: 'fencing: false',
  options: UNFENCED,
  waits: true,
});
export const withoutRenewal = variant({
  name: OURS.unrenewed,
  configuration: 'renew: false',
  options: { renew: false },
  waits: true,
});
export const trying = variant({ name: OURS.trying, configuration: 'tryAcquire', waits: false });
export const heard = variant({
  name: OURS.heard,
  configuration: `a label, and listeners to ${HEARD.join(', ')}`,
  listened: true,
  waits: true,
});
export const inMemory = variant({
  name: OURS.inMemory,
  configuration: "redis: 'memory:one-process'",
  options: { redis: 'memory:one-process' },
  waits: true,
});
export const onIoredis5 = variant({
  name: OURS.on5,
  configuration: '',
  waits: true,
  ioredis: 5,
});
export const withoutFencingOn5 = variant({
  name: OURS.unfencedOn5,
  configuration: 'fencing: false',
  options: UNFENCED,
  waits: true,
  ioredis: 5,
});
