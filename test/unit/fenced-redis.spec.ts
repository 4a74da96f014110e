import { expect, it } from '@jest/globals';
import { fencedRedis, type FencedRedisClient } from '../../lib/index.js';

it.each([
  ['an error of Redis', new Error('READONLY You can not write against a read only replica.'), 0],
  ['what is no Error', 'NOSCRIPT', 0],
  ['that the script is not known', new Error('NOSCRIPT No matching script.'), 1],
])(
  'a guarded write that is answered with %s is sent again only where it did not run',
  async (_, reason, again) => {
    let evals = 0;
    const client = {
      options: {},
      evalsha: () => Promise.reject(reason),
      eval: async () => {
        evals += 1;
        return [1, 'OK'];
      },
    };
    const write = fencedRedis(client as unknown as FencedRedisClient, 7).set('balance', 70);
    const outcome = await write.catch((error: unknown) => error);
    expect([outcome, evals]).toEqual([again ? 'OK' : reason, again]);
  },
);
