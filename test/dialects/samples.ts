import type { LockDialect } from '../../lib/options/index.js';

/** Each way of speaking each dialect. */
export const samples: readonly LockDialect[] = [
  'plain',
  'laravel',
  { name: 'shedlock', prefix: 'job-lock:test:' },
];
