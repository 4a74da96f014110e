// What a script leaves at a lock that stops half-way, and who wants the lock then.
import type { Redis } from 'ioredis';
import { READER, type Share } from '../../lib/engine/options/index.js';
import { PERMITS, SHARED } from '../../lib/engine/protocol/constants.js';
import type { LockKeys } from '../support/lock-keys.js';

/** How long what is left would last, in ms. */
export const TTL = 60_000;

interface Holders {
  readonly share: Share;
  readonly marker: string;
}
const readers: Holders = { share: READER, marker: SHARED };
export const permits: Holders = { share: { permits: 2, count: 2 }, marker: PERMITS };

/** What is left when the last holder's release stopped: after it had emptied `holders`, or before. */
export const remains: Readonly<Record<string, (at: Redis, keys: LockKeys) => Promise<unknown>>> = {
  nobody: async () => {},
  'leases that are over': async (at, { holders }) => {
    await at.zadd(holders, 0, 'p/over', 1_000, 'p/past');
    await at.pexpire(holders, TTL);
  },
};

export const wanted: Readonly<Record<string, Share | undefined>> = {
  alone: undefined,
  'as a reader': READER,
  'two of two permits': { permits: 2, count: 2 },
};

/** Each marker over each of these, and each who wants the lock. */
export const marked = Object.entries({ readers, permits }).flatMap(([of, { marker }]) =>
  Object.keys(remains).flatMap((left) =>
    Object.keys(wanted).map((want) => ({ of, marker, left, want })),
  ),
);
