import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LockNotAcquiredError } from '../../lib/index.js';
import type { LockDialect } from '../../lib/index.js';
import { lockFormat } from '../../lib/engine/options/index.js';
import { Quorum } from '../support/quorum.js';
import { until } from '../support/until.js';
import type { LockingProcess } from '../support/world.js';
import { describeEach } from './both-ways.js';
import { Crowd } from './crowd.js';
import { pottery, redlocks, redsync } from './peers/index.js';
import type { PeerClient } from './peers/peer.js';

/** The lock's name. */
const key = 'shared:k';
/** Of theirs, in ms. */
const LEASE = 2_000;

let quorum: Quorum;
/** Where crowds count their turns. */
let counters: Redis;
let clients: PeerClient[];
beforeEach(async () => {
  [quorum, clients] = [await Quorum.of(3), []];
  counters = new Redis(quorum.urls[0]!);
});
afterEach(async () => {
  await Promise.all(clients.map((each) => each.close()));
  counters.disconnect();
  await quorum.stop();
});

describe('a majority of three servers, beside', () => {
  describeEach([...redlocks, redsync, pottery], (peer) => {
    it('is theirs or ours, and the other’s when it is given back', async () => {
      const [us, them] = [await ours(peer.dialect), await theirs()];
      const held = await us.acquire({ key });
      expect(await them.acquire(key, LEASE)).toBe(false);
      expect(await held.release()).toBe(true);
      await until('they have it', () => them.acquire(key, 30_000));
      await expect(us.acquire({ key, wait: 0 })).rejects.toThrow(LockNotAcquiredError);
      const waiting = us.acquire({ key });
      expect(await them.release(key)).toBe(true);
      const next = await waiting;
      expect(next.fencingToken).toBeGreaterThan(held.fencingToken);
    });

    it('is free when the lease of one that crashed is over', async () => {
      const [us, them] = [await ours(peer.dialect), await theirs()];
      await until('they have it', () => them.acquire(key, LEASE));
      await them.close();
      const held = await us.acquire({ key, ttl: LEASE });
      const next = await theirs();
      expect(await next.acquire(key, LEASE)).toBe(false);
      await us.crash();
      await until('they have it again', () => next.acquire(key, LEASE));
      expect(held.fencingToken).toBeGreaterThan(0);
    });

    it('excludes with one server down', async () => {
      const [us, them] = [await ours(peer.dialect), await theirs()];
      await quorum.servers[2]!.stop();
      const held = await us.acquire({ key });
      expect(await them.acquire(key, LEASE)).toBe(false);
      expect(await held.release()).toBe(true);
      await until('they have it', () => them.acquire(key, 30_000));
      await expect(us.acquire({ key, wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    });

    it('is never held twice by three of theirs and three of ours', async () => {
      const us = await Promise.all([1, 2, 3].map(() => ours(peer.dialect)));
      const them = await Promise.all([1, 2, 3].map(() => theirs()));
      const crowd = new Crowd(counters, process.env['FULL'] ? 10_000 : 500);
      await Promise.all([
        ...us.map((process) =>
          crowd.ours({ acquire: (name, more) => process.acquire({ key: name, ...more }) }, key),
        ),
        ...them.map((client) => crowd.theirs(client, key)),
      ]);
      await crowd.check();
    });

    async function theirs(): Promise<PeerClient> {
      const client = await peer.connect(...quorum.urls);
      clients.push(client);
      return client;
    }
  });
});

/** Where a library puts its locks is where our own format has ours, with that as `keyPrefix`. */
function ours(dialect: LockDialect): Promise<LockingProcess> {
  return quorum.process({ keyPrefix: lockFormat(dialect).prefix });
}
