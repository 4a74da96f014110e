import type { Adapter, Ioredis } from './adapter.js';
import {
  heard,
  inMemory,
  nestRedisLock,
  onIoredis5,
  strictlyFair,
  trying,
  withoutFencing,
  withoutFencingOn5,
  withoutRenewal,
} from './nest-redis-lock.js';
import { nestRedlock } from './nest-redlock.js';
import { gatheredOn5, gatheredOn6, rawOn5, rawOn6 } from './raw.js';
import { redisSemaphore } from './redis-semaphore.js';
import { redlock4 } from './redlock-4.js';
import { redlock5 } from './redlock-5.js';
import { redlockUniversal } from './redlock-universal.js';
import { sesameRedlock } from './sesame-redlock.js';

export type { Adapter, BenchClient, Ioredis, Release, Servers } from './adapter.js';

/** What the ratios of uncontended workloads refer to, each on the same ioredis. */
export const RAW: Readonly<Record<Ioredis, Adapter>> = { 6: rawOn6, 5: rawOn5 };

/** The same, where commands of one turn of the event loop leave together. */
export const GATHERED: Readonly<Record<Ioredis, Adapter>> = { 6: gatheredOn6, 5: gatheredOn5 };

/** This library in its two orders: by default, and strict. */
export const ORDERS: readonly Adapter[] = [nestRedisLock, strictlyFair];

/** Its main rows. */
export const MAIN: readonly Adapter[] = [...ORDERS, withoutFencing];

/** What is compared with raw ioredis on both majors. */
export const ON_BOTH: readonly Adapter[] = [
  nestRedisLock,
  withoutFencing,
  onIoredis5,
  withoutFencingOn5,
];

/** What tells something only about a lock that nobody else wants. */
export const FOR_ONE_ALONE: readonly Adapter[] = [
  gatheredOn6,
  gatheredOn5,
  trying,
  withoutRenewal,
  heard,
  onIoredis5,
  withoutFencingOn5,
];

/** This library's rows. */
export const OURS: readonly Adapter[] = [
  ...MAIN,
  withoutRenewal,
  trying,
  heard,
  onIoredis5,
  withoutFencingOn5,
];

/** Its locks in the memory of the process, and what they are compared with. */
export const IN_MEMORY: readonly Adapter[] = [nestRedisLock, inMemory];

/** The other libraries' rows. */
export const PEERS: readonly Adapter[] = [
  ...redlock4,
  ...redlock5,
  ...sesameRedlock,
  ...nestRedlock,
  ...redisSemaphore,
  ...redlockUniversal,
];

/** The rows of all tables, in their order. */
export const ADAPTERS: readonly Adapter[] = [
  rawOn6,
  gatheredOn6,
  rawOn5,
  gatheredOn5,
  ...OURS,
  ...PEERS,
];
