import type { DialectSettings } from '../../../options/index.js';
import type { Dialect, Wake } from '../dialect.js';
import { LuaScript, named } from '../../../redis/index.js';
import { marked, scripts as plain } from '../plain/plain.js';
import release from './release.lua.js';

/** The steps of a lock of a RedisLockRegistry: a plain lock that wakes when it is given back. */
export const scripts = named('spring', {
  ...plain,
  release: new LuaScript(release),
});

/**
 * RedisLockRegistry of Spring Integration: a plain string, and a channel for waiters with PUB_SUB_LOCK. Up to 6.5.2
 * a registry has one channel, from 6.5.3 on each lock its own (spring-integration #10473); ours tells both. Its message
 * is the lock's key in either. A registry takes back a lock of its own value alone, as one script does since #8699
 * (6.2, backported to 6.0 and 6.1); before, it looks first and deletes then, so it may delete what has just become ours.
 *
 * A lock that ends by itself tells nobody: their waiter asks again after its own time.
 */
export function spring({ prefix, publish }: DialectSettings, clientPrefix: string): Dialect {
  const format = { type: 'string' as const, ...scripts, operands: marked };
  if (!publish) return format;
  const older = `${clientPrefix}${prefix.slice(0, -':'.length)}-channel`;
  const wake = (lock: string): Wake => {
    return { publish, channel: `${older}:${lock}`, older, message: lock };
  };
  return { ...format, wake };
}
