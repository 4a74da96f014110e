import type { Dialect } from '../dialect-format.js';
import { scripts } from './scripts.js';

/** The RedisStore of symfony/lock from 5.2 on: a sorted set of leases, ended by the server's clock, read or written. */
export const symfony: Dialect = {
  type: 'zset',
  ...scripts,
  operands: (request) => ({ mode: request?.share ? 'read' : 'write' }),
};
