import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { createHash, randomUUID } from 'node:crypto';
import { type Adapter, TTL } from './adapter.js';

export const COMPARE_AND_DELETE =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const SHA = createHash('sha1').update(COMPARE_AND_DELETE).digest('hex');

/** The least that a lock on Redis can do: one SET, one script; no waiting, no fencing, no renewal. On several servers at once. */
function raw(name: string, connect: (url: string, options: RedisOptions) => Redis): Adapter {
  return {
    name,
    configuration: 'SET NX PX, compare-and-delete by EVALSHA',
    waits: false,
    renews: false,
    async open(servers) {
      const options = { enableAutoPipelining: servers.length > 1 }; // what goes to one of many is gathered
      const clients = servers.map((url) => connect(url, options));
      const each = <T>(step: (client: Redis) => Promise<T>): Promise<T[]> =>
        Promise.all(clients.map(step));
      await each((client) => client.script('LOAD', COMPARE_AND_DELETE));
      return {
        async acquire(key) {
          const id = randomUUID();
          const votes = await each((client) => client.set(key, id, 'PX', TTL, 'NX'));
          if (!votes.every(Boolean)) return undefined;
          return () => each((client) => client.evalsha(SHA, 1, key, id));
        },
        async close() {
          await each((client) => client.quit());
        },
      };
    },
  };
}

export const rawOn6 = raw('raw ioredis 6', (url, options) => new Redis(url, options));
export const rawOn5 = raw(
  'raw ioredis 5',
  (url, options) => new Redis5(url, options as object) as unknown as Redis,
);
