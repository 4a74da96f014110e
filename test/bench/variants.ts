/** The names of the rows that others refer to: what reads published figures loads no peer. */
export const OURS = {
  byDefault: 'nest-redis-lock',
  strict: 'nest-redis-lock strict',
  unfenced: 'nest-redis-lock −fencing',
  unrenewed: 'nest-redis-lock −renewal',
  trying: 'nest-redis-lock tryAcquire',
  heard: 'nest-redis-lock, labelled and listened to',
  inMemory: 'nest-redis-lock in memory',
  on5: 'nest-redis-lock on ioredis 5',
  unfencedOn5: 'nest-redis-lock −fencing on ioredis 5',
} as const;

export const RAW = {
  on6: 'raw ioredis 6',
  gatheredOn6: 'raw ioredis 6 + autopipelining',
  on5: 'raw ioredis 5',
  gatheredOn5: 'raw ioredis 5 + autopipelining',
} as const;

/** What ratios refer to, by the major of ioredis. */
export const RAW_ON = { 6: RAW.on6, 5: RAW.on5 } as const;
export const GATHERED_ON = { 6: RAW.gatheredOn6, 5: RAW.gatheredOn5 } as const;

/** Whether a row is one of the other libraries: what a floor is called begins with it. */
export function isPeer(variant: string): boolean {
  return !/^(nest-redis-lock|raw ioredis|floor)\b/.test(variant);
}
