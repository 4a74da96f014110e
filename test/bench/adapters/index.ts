import { nestRedisLock, strictlyFair, withoutFencing } from './nest-redis-lock.js';
import { rawOn5, rawOn6 } from './raw.js';
import { redisSemaphore, redisSemaphoreTuned } from './redis-semaphore.js';
import { redlock4, redlock4Tuned } from './redlock-4.js';
import { redlock5, redlock5Tuned } from './redlock-5.js';
import { redlockUniversal, redlockUniversalTuned } from './redlock-universal.js';

export type { Adapter, BenchClient } from './adapter.js';

/** What the ratios of uncontended workloads refer to. */
export const RAW = rawOn6;

/** This library's rows; every other that waits is a peer. */
export const OURS = [nestRedisLock, strictlyFair, withoutFencing];

/** The rows of every table. */
export const ADAPTERS = [
  rawOn6,
  rawOn5,
  ...OURS,
  redlock4,
  redlock4Tuned,
  redlock5,
  redlock5Tuned,
  redisSemaphore,
  redisSemaphoreTuned,
  redlockUniversal,
  redlockUniversalTuned,
];
