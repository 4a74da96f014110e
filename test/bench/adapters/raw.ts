import { Redis } from 'ioredis';
import { createHash, randomUUID } from 'node:crypto';
import { RAW } from '../variants.js';
import { type Adapter, type Ioredis, TTL } from './adapter.js';

export const COMPARE_AND_DELETE =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const SHA = createHash('sha1').update(COMPARE_AND_DELETE).digest('hex');

/** The least that a lock on Redis can do: one SET, one script; no waiting, no fencing, no renewal. On several servers at once. */
export function raw(
  name: string,
  options: { readonly enableAutoPipelining: boolean },
  ioredis: Ioredis = 6,
): Adapter {
  return {
    name,
    configuration: 'SET NX PX, compare-and-delete by EVALSHA',
    ioredis,
    waits: false,
    renews: false,
    async open(servers) {
      const clients = servers.map((url) => new Redis(url, options));
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

const ALONE = { enableAutoPipelining: false };
const GATHERED = { enableAutoPipelining: true };

export const rawOn6 = raw(RAW.on6, ALONE);
export const gatheredOn6 = raw(RAW.gatheredOn6, GATHERED);
export const rawOn5 = raw(RAW.on5, ALONE, 5);
export const gatheredOn5 = raw(RAW.gatheredOn5, GATHERED, 5);
