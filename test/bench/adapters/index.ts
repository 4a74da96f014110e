import type { Adapter } from './adapter.js';
import { nestRedisLock, strictlyFair, withoutFencing } from './nest-redis-lock.js';
import { nestRedlock } from './nest-redlock.js';
import { rawOn5, rawOn6 } from './raw.js';
import { redisSemaphore } from './redis-semaphore.js';
import { redlock4 } from './redlock-4.js';
import { redlock5 } from './redlock-5.js';
import { redlockUniversal } from './redlock-universal.js';
import { sesameRedlock } from './sesame-redlock.js';

export type { Adapter, BenchClient, Ioredis, Release, Servers } from './adapter.js';

/** What the ratios of uncontended workloads refer to. */
export const RAW = rawOn6;

/** This library in its two orders: by default, and strict. */
export const ORDERS: readonly Adapter[] = [nestRedisLock, strictlyFair];

/** This library's rows. */
export const OURS: readonly Adapter[] = [...ORDERS, withoutFencing];

/** The other libraries' rows. */
export const PEERS: readonly Adapter[] = [
  ...redlock4,
  ...redlock5,
  ...sesameRedlock,
  ...nestRedlock,
  ...redisSemaphore,
  ...redlockUniversal,
];

/** The rows of every table. */
export const ADAPTERS: readonly Adapter[] = [rawOn6, rawOn5, ...OURS, ...PEERS];
