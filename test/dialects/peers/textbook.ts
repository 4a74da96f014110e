import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Peer } from './peer.js';

/** How a client of the articles counts. */
const UNITS = { s: 1_000, ms: 1 } as const;

/** The client of the SETNX articles in JavaScript, which knows nothing of us: a command a step, no time to live. */
export function textbook(
  unit: keyof typeof UNITS,
  protocol: 'commands' | 'script',
  read: (value: string) => number = Number,
): Peer {
  const ms = UNITS[unit];
  const now = (): number => Math.floor(Date.now() / ms);
  return {
    name: `a client of the articles, in ${unit}, beside our ${protocol}`,
    dialect: { name: 'timestamp', unit, protocol, suffix: '_lock' },
    shortest: Math.max(50, ms),
    missing: undefined,
    async connect(url) {
      const client = new Redis(url);
      const ends = new Map<string, number>();
      return {
        async acquire(name, ttl) {
          const lock = `${name}_lock`;
          const expiry = now() + Math.ceil(ttl / ms) + 1;
          const got = (): true => {
            ends.set(name, expiry);
            return true;
          };
          if ((await client.setnx(lock, expiry)) === 1) return got();
          const seen = await client.get(lock);
          if (seen !== null && read(seen) < now()) {
            const old = await client.getset(lock, expiry);
            if (old === seen) return got();
          }
          await sleep(Math.random() * 4);
          return false;
        },
        async release(name) {
          if (now() >= ends.get(name)!) return false;
          return (await client.del(`${name}_lock`)) === 1;
        },
        close: async () => client.disconnect(),
      };
    },
  };
}
