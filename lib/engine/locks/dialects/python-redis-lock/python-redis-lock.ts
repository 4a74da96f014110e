import type { LockFormat } from '../../../options/index.js';
import type { Dialect } from '../dialect.js';
import { named } from '../../../redis/index.js';
import { marked, scripts as plain } from '../plain/plain.js';
import force from './force.lua.js';
import release from './release.lua.js';

/** The steps of a lock of python-redis-lock: a plain lock whose release leaves a signal. */
export const scripts = named('python-redis-lock', { ...plain, release, force });

/**
 * The Lock of python-redis-lock (ionelmc), by the source of 4.0.0: a plain string at `lock:<name>`, and a list at
 * `lock-signal:<name>` from which waiters BLPOP. A release leaves one element in the list, for a second; the first waiter takes
 * it and asks again. An acquisition leaves the list alone, as that library does: an element that is left over makes a waiter
 * ask once too often. A lock that expires leaves no signal, so this dialect has no `minHold`.
 */
export function pythonRedisLock({ prefix }: LockFormat, clientPrefix: string): Dialect {
  const before = clientPrefix + prefix;
  return {
    type: 'string',
    ...scripts,
    operands: marked,
    keys: (lock) => ({ signal: `${clientPrefix}lock-signal:${lock.slice(before.length)}` }),
  };
}
