import type { LockFormat } from '../../../options/index.js';
import type { Dialect, Wake } from '../dialect.js';
import { named } from '../../../redis/index.js';
import { marked, scripts as plain } from '../plain/plain.js';
import release from './release.lua.js';

/** The steps of a lock of a RedisLockRegistry: a plain lock whose release wakes waiters. */
export const scripts = named('spring', { ...plain, release });

/**
 * RedisLockRegistry of Spring Integration: a plain string, and a channel for waiters with PUB_SUB_LOCK. Up to 6.5.2 a registry
 * has one channel; from 6.5.3 on each lock has its own (spring-integration #10473). Our release publishes on both, with the
 * lock's key as the message.
 *
 * A registry releases only a lock of its own value, in one script since #8699 (6.2, backported to 6.0 and 6.1). Older versions
 * check first and delete then, so they may delete a lock that has just become ours. A lock that expires publishes nothing:
 * their waiter asks again after its own time.
 */
export function spring({ prefix, publish }: LockFormat, clientPrefix: string): Dialect {
  const format = { type: 'string' as const, ...scripts, operands: marked };
  if (!publish) return format;
  const older = `${clientPrefix}${prefix.slice(0, -':'.length)}-channel`;
  const wake = (lock: string): Wake => {
    return { publish, channel: `${older}:${lock}`, older, message: lock };
  };
  return { ...format, wake };
}
