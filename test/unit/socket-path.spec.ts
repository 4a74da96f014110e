import { expect, it } from '@jest/globals';
import { parseRedisUrl } from '../../lib/engine/options/redis-source.js';

it.each(['/run/redis.sock', './redis.sock', 'unix:///run/redis.sock', 'redis+socket:///run/r'])(
  'the path of a Unix socket given as text, %s, is refused with the option that takes it',
  (given) => {
    expect(() => parseRedisUrl('redis', given)).toThrow("Write { path: '/run/redis.sock' }");
  },
);
