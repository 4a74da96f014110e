import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { createHash, randomUUID } from 'node:crypto';
import { type Adapter, TTL } from './adapter.js';

export const COMPARE_AND_DELETE =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const SHA = createHash('sha1').update(COMPARE_AND_DELETE).digest('hex');

/** The least that a lock on Redis can do: one SET, one script; no waiting, no fencing, no renewal. */
function raw(name: string, connect: (url: string) => Redis): Adapter {
  return {
    name,
    configuration: 'SET NX PX, compare-and-delete by EVALSHA',
    waits: false,
    renews: false,
    async open(url) {
      const client = connect(url);
      await client.script('LOAD', COMPARE_AND_DELETE);
      return {
        async acquire(key) {
          const id = randomUUID();
          const taken = await client.set(key, id, 'PX', TTL, 'NX');
          return taken ? () => client.evalsha(SHA, 1, key, id) : undefined;
        },
        async close() {
          await client.quit();
        },
      };
    },
  };
}

export const rawOn6 = raw('raw ioredis 6', (url) => new Redis(url));
export const rawOn5 = raw('raw ioredis 5', (url) => new Redis5(url) as unknown as Redis);
