import type { Redis } from 'ioredis';
import { type Adapter, TTL } from './adapter.js';
import { holdWithin, peer, type Variant } from './peer.js';

/** What redlock 5 and those that stand on its code have in common. */
interface Redlock5 {
  acquire(keys: string[], ttl: number): Promise<{ release(): Promise<unknown> }>;
  using(keys: string[], ttl: number, routine: () => Promise<void>): Promise<unknown>;
}

/** Polls within the window instead of giving up, with the delay that did best over many. */
export const TIRELESS = {
  said: { configuration: 'retries without end, 10 ± 5 ms', asksOtherwise: true },
  settings: { retryCount: -1, retryDelay: 10, retryJitter: 5 },
} as const;

/** A library of that family by its defaults, and tuned. */
export function redlock5Family(
  name: string,
  gaveUp: Variant['gaveUp'],
  locksOn: (clients: Redis[], settings: object) => Redlock5,
): Adapter[] {
  const variant = (
    said: Pick<Variant, 'name' | 'configuration' | 'asksOtherwise'>,
    settings: object,
  ): Adapter =>
    peer({ ...said, renews: true, gaveUp }, (clients) => {
      const redlock = locksOn(clients, settings);
      return {
        async acquire(key) {
          const lock = await redlock.acquire([key], TTL);
          return () => lock.release();
        },
        hold: (key, ttl) => holdWithin((routine) => redlock.using([key], ttl, routine)),
      };
    });
  return [
    variant({ name, configuration: '' }, {}),
    variant({ name: `${name} tuned`, ...TIRELESS.said }, TIRELESS.settings),
  ];
}
