import { Redis } from 'ioredis';
import type { Adapter, Release } from './adapter.js';

/** A peer's locks on one client. */
export interface PeerLocks {
  acquire(key: string): Promise<Release>;
  hold?(key: string, ttl: number): Promise<Release>;
}

/** What sets one row of a peer apart. */
export interface Variant {
  readonly name: string;
  readonly configuration: string;
  readonly renews: boolean;
  readonly asksOtherwise?: true;
  /** What the library throws when it gives up waiting. */
  readonly gaveUp: new (...args: never[]) => Error;
}

/** A library that is given ioredis clients, one for each server. */
export function peer(variant: Variant, locksOn: (clients: Redis[]) => PeerLocks): Adapter {
  const { gaveUp, ...said } = variant;
  return {
    ...said,
    waits: true,
    async open(servers) {
      const clients = servers.map((url) => new Redis(url));
      const locks = locksOn(clients);
      return {
        acquire: (key) => unlessThrown(gaveUp, locks.acquire(key)),
        ...(locks.hold && { hold: (key, ttl) => locks.hold!(key, ttl) }),
        async close() {
          await Promise.all(clients.map((client) => client.quit()));
        },
      };
    },
  };
}

/** Undefined instead of an error of this class. */
export async function unlessThrown<T>(
  expected: Variant['gaveUp'],
  result: Promise<T>,
): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof expected) return undefined;
    throw error;
  }
}

/** Makes a lease that is given back by hand of a call that holds its lock while a routine runs. */
export function holdWithin(
  using: (routine: () => Promise<void>) => Promise<unknown>,
): Promise<Release> {
  return new Promise((resolve, reject) => {
    const over = using(
      () =>
        new Promise((done) => {
          resolve(() => {
            done();
            return over;
          });
        }),
    );
    over.catch(reject);
  });
}
