import type { LockDialect } from '../../lib/engine/options/index.js';

/** Each way of speaking each dialect. */
export const samples: readonly LockDialect[] = [
  'plain',
  { name: 'laravel', prefix: 'laravel_database_laravel_cache_:' },
  { name: 'plain', suffix: '_lock' },
  { name: 'shedlock', prefix: 'job-lock:test:' },
  { name: 'plain', guard: 'timestamp' },
  'timestamp',
  { name: 'timestamp', unit: 'ms', protocol: 'commands', prefix: 'lock.' },
  { name: 'timestamp', unit: 'float', protocol: 'commands', suffix: '_lock' },
  { name: 'timestamp', unit: 'ms', protocol: 'script' },
  'redisson',
  { name: 'redisson', kind: 'fenced', sharded: true },
  { name: 'redisson', kind: 'readWrite' },
  'symfony',
  { name: 'spring', registry: 'locks' },
  { name: 'spring', registry: 'app:locks', publish: false },
  'python-redis-lock',
];
