/**
 * What libraries with a plain lock put before a lock's name. Their values differ and so do their units of time, but
 * each compares a value with its own alone, and a key ends in the same way whatever its unit: the name is all that
 * two of them must agree on.
 */
export const PRESETS = {
  plain: '',
  redlock: '',
  'redlock-universal': '',
  'redis-py': '',
  redsync: '',
  'bsm/redislock': '',
  'ioredis-lock': '',
  verrou: '',
  murlock: '',
  'redis-semaphore': 'mutex:',
  shedlock: 'job-lock:default:',
  lock4j: 'lock4j:',
  pottery: 'redlock:',
  'RedLock.net': 'redlock:',
} as const satisfies Record<'plain' | PlainPreset, string>;

/** A library whose locks are plain. */
export type PlainPreset =
  | 'redlock'
  | 'redlock-universal'
  | 'redis-py'
  | 'redsync'
  | 'bsm/redislock'
  | 'ioredis-lock'
  | 'verrou'
  | 'murlock'
  | 'redis-semaphore'
  | 'shedlock'
  | 'lock4j'
  | 'pottery'
  | 'RedLock.net';
