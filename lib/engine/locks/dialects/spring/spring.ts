import type { LockFormat } from '../../../options/index.js';
import type { Dialect, Wake } from '../dialect.js';
import { plain } from '../plain/plain.js';

/**
 * RedisLockRegistry of Spring Integration: a plain lock, and a channel for waiters with PUB_SUB_LOCK. Up to 6.5.2 a registry
 * has one channel; from 6.5.3 on each lock has its own (spring-integration #10473). Our release publishes on both, with the
 * lock's key as the message.
 *
 * A registry releases only a lock of its own value, in one script since #8699 (6.2, backported to 6.0 and 6.1). Older versions
 * check first and delete then, so they may delete a lock that has just become ours. A lock that expires publishes nothing:
 * their waiter asks again after its own time.
 */
export function spring(format: LockFormat, clientPrefix: string): Dialect {
  const { prefix, publish } = format;
  if (!publish) return plain(format);
  const older = `${clientPrefix}${prefix.slice(0, -':'.length)}-channel`;
  const wake = (lock: string): Wake => {
    return { publish, channel: `${older}:${lock}`, older, message: lock };
  };
  return { ...plain(format), wake };
}
