import { describe, expect, it } from '@jest/globals';
import { LeaseLostError, LockNotAcquiredError } from '../../../lib/index.js';
import type { Lease } from '../../../lib/engine/client/leases/lease.js';
import { until } from '../../support/until.js';
import { describeEach } from '../both-ways.js';
import { patientClock } from '../endless-pauses.js';
import type { DrivenClient, DrivenPeer } from '../peers/driven-peer.js';
import { RELEASES, redisson } from '../peers/jvm.js';
import { had, Sides } from '../sides.js';
import { bothRenew } from './both-renew.js';

/** What a watchdog renews to, on both sides, in ms. */
const WATCHDOG = 3_000;

const sides = new Sides();
const connect = (peer: DrivenPeer): Promise<DrivenClient> => sides.peer(peer);

const locks = [
  ...(['lock', 'fenced', 'write'] as const).map((kind) => redisson(kind, 'current')),
  redisson('lock', 'older'),
  redisson('write', 'older'),
];
const here = locks.every(({ missing }) => missing === undefined) ? describe : describe.skip;

/** So many of theirs sleep until they are told of a release; as long as our lease lasts. */
async function asleep(count = 1): Promise<void> {
  await until('they sleep', async () => (await sides.theirs.get('asleep')) === String(count));
}

here('beside Redisson itself', () => {
  describeEach(locks, (peer) => {
    const { dialect } = peer;
    const channel =
      typeof dialect === 'object' && 'kind' in dialect && dialect.kind === 'readWrite'
        ? 'redisson_rwlock:{k}'
        : 'redisson_lock__channel:{k}';

    it('whose waiter sleeps has the lock as soon as we give it back', async () => {
      const [us, them] = [sides.client({ dialect }), await connect(peer)];
      const lease = await us.acquire('k', { ttl: 300_000 });
      const waits = them.wait('k');
      await asleep();
      await lease.release();
      expect(await waits).toBe(true);
      expect(await them.release('k')).toBe(true);
    });

    it('whose waiter sleeps has the lock as soon as an operator takes it from us', async () => {
      const [us, them] = [sides.client({ dialect }), await connect(peer)];
      await us.acquire('k', { ttl: 300_000 });
      const waits = them.wait('k');
      await asleep();
      await us.force('k');
      expect(await waits).toBe(true);
    });

    it('tells our waiter that the lock is free, who asks by no clock', async () => {
      const us = sides.client({ dialect }, { clock: patientClock });
      const them = await connect(peer);
      expect(await them.acquire('k', 300_000)).toBe(true);
      const lease = us.acquire('k');
      await until('we listen', async () => (await sides.listeners(channel)) === 1);
      expect(await them.release('k')).toBe(true);
      expect((await had(lease)).held).toBe(true);
    });

    it('keeps its lock by its watchdog while we keep another by ours, for three leases', () =>
      bothRenew(sides, peer, WATCHDOG));

    it('that was killed has held the lock no longer than its watchdog had renewed it to', async () => {
      const us = sides.client({ dialect });
      const them = await connect(peer);
      expect(await them.keep('k', WATCHDOG)).toBe(true);
      const waits = us.acquire('k');
      await us.waiting('k');
      await them.close();
      expect((await had(waits)).held).toBe(true);
    });
  });

  it('RFencedLock and we count on one counter: each grant has the next token, whose ever it is', async () => {
    const peer = redisson('fenced', 'current');
    const [us, them] = [sides.client({ dialect: peer.dialect }), await connect(peer)];
    const tokens: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await them.acquire('k', 60_000)).toBe(true);
      tokens.push(await them.token('k'));
      await them.release('k');
      const lease = (await us.acquire('k', { wait: 0 })) as Lease;
      tokens.push(lease.fencingToken);
      await lease.release();
    }
    expect(tokens).toEqual([1, 2, 3, 4, 5, 6]);
  });

  describe.each(RELEASES)('RReadWriteLock, %s', (release) => {
    const [reader, writer] = [redisson('read', release), redisson('write', release)];
    const { dialect } = reader;

    it('is read by both, each by its own watchdog, and written by neither until both have left', async () => {
      const us = sides.client({ dialect, ttl: WATCHDOG });
      const [reads, writes] = await Promise.all([connect(reader), connect(writer)]);
      expect(await reads.keep('k', WATCHDOG)).toBe(true);
      const lease = await us.acquire('k', { mode: 'shared', wait: 0 });
      const over = performance.now() + 2 * WATCHDOG;
      await until('two leases are over', async () => {
        expect(await writes.acquire('k', 1_000)).toBe(false);
        await expect(us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
        return performance.now() > over;
      });
      expect(await reads.release('k')).toBe(true);
      expect(await writes.acquire('k', 1_000)).toBe(false);
      expect(lease.held).toBe(true);
      await lease.extend();
      expect(await lease.release()).toBe(true);
      expect(await writes.acquire('k', 60_000)).toBe(true);
    });

    it('stays read by us when their reader was killed, and by them when ours was', async () => {
      const [us, gone] = [sides.client({ dialect }), sides.client({ dialect, ttl: WATCHDOG })];
      const [dead, lives, writes] = await Promise.all([reader, reader, writer].map(connect));
      await gone.acquire('k', { mode: 'shared' });
      const lease = await us.acquire('k', { mode: 'shared', ttl: WATCHDOG });
      expect(await dead!.keep('k', WATCHDOG)).toBe(true);
      expect(await lives!.keep('k', WATCHDOG)).toBe(true);
      await Promise.all([gone.store.close(), dead!.close()]);
      const over = performance.now() + 2 * WATCHDOG;
      await until('two leases are over', async () => {
        expect(await writes!.acquire('k', 1_000)).toBe(false);
        return performance.now() > over;
      });
      // Up to 4.3 a reader's watchdog renews all readers, the dead ones too: they end with it.
      const readers = (await sides.theirs.keys('*rwlock_timeout*')).length;
      expect(readers).toBe(release === 'current' ? 2 : 4);
      expect(await lease.release()).toBe(true);
      expect(await writes!.acquire('k', 1_000)).toBe(false);
      expect(await lives!.release('k')).toBe(true);
      await until('it is free', () => writes!.acquire('k', 60_000));
    });

    it('is cut to their watchdog: a reader of ours with a longer lease loses it to a writer when theirs was killed, and is told', async () => {
      const us = sides.client({ dialect });
      const [dead, writes] = await Promise.all([reader, writer].map(connect));
      const lease = await us.acquire('k', { mode: 'shared', ttl: 300_000 });
      expect(await dead!.keep('k', WATCHDOG)).toBe(true);
      await until('it is cut', async () => (await sides.theirs.pttl('k')) <= WATCHDOG);
      await dead!.close();
      await until('a writer has it', () => writes!.acquire('k', 60_000));
      await expect(lease.extend()).rejects.toThrow(LeaseLostError);
      expect(lease.held).toBe(false);
      expect(await lease.release()).toBe(false);
    });

    it('stays ours when their reader was killed, if our lease is no longer than their watchdog’s', async () => {
      const us = sides.client({ dialect });
      const [dead, writes] = await Promise.all([reader, writer].map(connect));
      expect(await dead!.keep('k', WATCHDOG)).toBe(true);
      const lease = await us.acquire('k', { mode: 'shared', ttl: WATCHDOG });
      await dead!.close();
      const over = performance.now() + 3 * WATCHDOG;
      await until('three leases are over', async () => {
        expect(await writes!.acquire('k', 1_000)).toBe(false);
        return performance.now() > over;
      });
      expect(await lease.release()).toBe(true);
      await until('it is free', () => writes!.acquire('k', 60_000));
    });

    it('wakes a sleeping writer of theirs when our last reader leaves', async () => {
      const [us, writes] = [sides.client({ dialect }), await connect(writer)];
      const leases = await Promise.all(
        [1, 2].map(() => us.acquire('k', { mode: 'shared', ttl: 300_000 })),
      );
      const waits = writes.wait('k');
      await asleep();
      for (const lease of leases) await lease.release();
      expect(await waits).toBe(true);
    });

    it('wakes all sleeping readers of theirs when our writer leaves', async () => {
      const us = sides.client({ dialect });
      const readers = await Promise.all([reader, reader].map(connect));
      const lease = await us.acquire('k', { ttl: 300_000 });
      const waits = readers.map((each) => each.wait('k'));
      await asleep(2);
      await lease.release();
      expect(await Promise.all(waits)).toEqual([true, true]);
    });
  });

  /** Why the dialect has no kind 'fair'. */
  describe.each(RELEASES)('RFairLock, %s', (release) => {
    const fair = redisson('fair', release);
    const { dialect } = fair;
    /** Where a waiter listens, which is another channel for each. */
    const channels = async (): Promise<string[]> =>
      (await sides.theirs.pubsub('CHANNELS', 'redisson_lock__channel:*')) as string[];

    it('excludes us while it is held, and is excluded by us', async () => {
      const [us, them] = [sides.client({ dialect }), await connect(fair)];
      expect(await them.acquire('k', 60_000)).toBe(true);
      await expect(us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
      await them.release('k');
      const lease = await us.acquire('k', { wait: 0 });
      expect(await them.acquire('k', 60_000)).toBe(false);
      await lease.release();
    });

    it('has waiters who listen where an RLock tells nobody: they sleep on when we give it back, and we overtake them', async () => {
      const [us, them] = [sides.client({ dialect }), await connect(fair)];
      const lease = await us.acquire('k', { ttl: 300_000 });
      const waits = them.wait('k');
      await until(
        'they queue',
        async () => (await sides.theirs.llen('redisson_lock_queue:{k}')) === 1,
      );
      await asleep();
      const [queued] = await sides.theirs.lrange('redisson_lock_queue:{k}', 0, 0);
      expect(await channels()).toEqual([`redisson_lock__channel:{k}:${queued}`]);
      await lease.release();
      const next = await us.acquire('k', { wait: 0 }); // they were first
      expect(next.held).toBe(true);
      expect(await sides.theirs.llen('redisson_lock_queue:{k}')).toBe(1);
      await Promise.all([them.close(), waits.catch(() => {})]);
    });
  });
});
