import type { Dialect } from '../dialect.js';
import { named } from '../../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import inspect from './inspect.lua.js';
import release from './release.lua.js';

/** The steps of a Symfony lock. */
export const scripts = named('symfony', { acquire, release, extend, inspect, force });

/** The RedisStore of symfony/lock from 5.2 on: a sorted set of leases, of readers or one writer, that end by the server's clock. */
export const symfony: Dialect = {
  type: 'zset',
  ...scripts,
  operands: (request) => ({ mode: request?.share ? 'read' : 'write' }),
};
