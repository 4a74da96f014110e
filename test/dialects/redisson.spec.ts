import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { LockNotAcquiredError, LockOptionsError } from '../../lib/index.js';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import { type LockDialect, lockFormat, READER } from '../../lib/engine/options/index.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { RedissonThread } from './peers/redisson.js';
import { Sides } from './sides.js';

const sides = new Sides();
let java: RedissonThread;

function start(dialect: LockDialect): LockProcess {
  java = new RedissonThread(sides.theirs);
  return sides.start(dialect);
}

describe('a Redisson lock', () => {
  it.each([
    ['k', 'redisson_lock__channel:{k}'],
    ['{tenant}:k', 'redisson_lock__channel:{tenant}:k'],
  ])('on %s that we give back wakes who waits on %s', async (name, channel) => {
    const lease = await start('redisson').acquire(name);
    const heard = await sides.hears('subscribe', channel);
    await lease.release();
    await until('it is heard', () => heard.length > 0);
    expect(heard).toEqual(['0']);
  });

  it('wakes by a sharded channel where it is told to', async () => {
    const lease = await start({ name: 'redisson', sharded: true }).acquire('k');
    const heard = await sides.hears('ssubscribe', 'redisson_lock__channel:{k}');
    await lease.release();
    await until('it is heard', () => heard.length > 0);
  });

  it('wakes also when an operator takes it from us', async () => {
    start('redisson');
    await sides.us.acquire('k');
    const heard = await sides.hears('subscribe', 'redisson_lock__channel:{k}');
    await sides.us.force('k');
    await until('it is heard', () => heard.length > 0);
  });

  it('that a thread entered twice is ours when it has left twice', async () => {
    start('redisson');
    await java.lock('k', 5_000);
    await java.lock('k', 5_000);
    await java.unlock('k');
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    await java.unlock('k');
    expect((await sides.us.acquire('k', { wait: 0 })).held).toBe(true);
  });

  it.each(['redisson', { name: 'redisson', kind: 'readWrite' }] as const)(
    'of a thread whose id is below zero is held by another, and an operator may take it: %j',
    async (dialect) => {
      start(dialect);
      const suffix = typeof dialect === 'string' ? '' : ':write';
      await sides.theirs.hset('k', `${randomUUID()}:-4242${suffix}`, 1);
      if (suffix) await sides.theirs.hset('k', 'mode', 'write');
      await sides.theirs.pexpire('k', 60_000);
      await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
      expect(await sides.us.force('k')).toBe(true);
      expect((await sides.us.acquire('k', { wait: 0 })).held).toBe(true);
    },
  );

  it('with a fence of its own gives us the next of its tokens', async () => {
    await sides.theirs.set('redisson_lock_token:{k}', 41);
    start({ name: 'redisson', kind: 'fenced' });
    const first = await sides.us.acquire('k');
    expect(first.fencingToken).toBe(42);
    await first.release();
    await sides.theirs.incr('redisson_lock_token:{k}');
    expect((await sides.us.acquire('k')).fencingToken).toBe(44);
  });

  it('that is fair is refused, and the error says why', () => {
    const fair = { name: 'redisson', kind: 'fair' };
    expect(() => lockFormat(fair)).toThrow(LockOptionsError);
    expect(() => lockFormat(fair)).toThrow('the queue of an RFairLock goes by the clocks');
  });
});

describe('a Redisson read-write lock', () => {
  const dialect = { name: 'redisson', kind: 'readWrite' } as const;

  it('is read by both sides at once, and written by neither meanwhile', async () => {
    start(dialect);
    expect(await java.read('k', 5_000)).toBe(true);
    const lease = await sides.us.acquire('k', { mode: 'shared', wait: 0 });
    const another = new RedissonThread(sides.theirs);
    expect(await another.write('k', 5_000)).toBe(false);
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await java.unread('k')).toBe(true);
    expect(await another.write('k', 5_000)).toBe(false);
    await lease.extend();
    expect(await lease.release()).toBe(true);
    expect(await another.write('k', 5_000)).toBe(true);
  });

  it('lives on for their reader when ours leaves, and no longer than its lease', async () => {
    start(dialect);
    const lease = await sides.us.acquire('k', { mode: 'shared' });
    await java.read('k', 2_000);
    await lease.release();
    expect(await sides.theirs.pttl('k')).toBeLessThanOrEqual(2_000);
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    await sides.us.acquire('k');
  });

  it('lives on for a thread that entered it twice to read, as long as the longer of its leases', async () => {
    start(dialect);
    await java.read('k', 5_000);
    await java.read('k', 60_000);
    const lease = await sides.us.acquire('k', { mode: 'shared', ttl: 600_000 });
    expect(await lease.release()).toBe(true);
    expect(Object.values(await sides.theirs.hgetall('k')).sort()).toEqual(['2', 'read']);
    const left = await sides.theirs.pttl('k');
    expect(left).toBeGreaterThan(5_000);
    expect(left).toBeLessThanOrEqual(60_000);
    expect(await java.unread('k')).toBe(true);
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await java.unread('k')).toBe(true);
    expect((await sides.us.acquire('k', { wait: 0 })).held).toBe(true);
  });

  it('keeps our reader while it is renewed, whoever comes and goes', async () => {
    start(dialect);
    const lease = await sides.us.acquire('k', { mode: 'shared', ttl: 2_000 });
    const { expiresAt } = lease;
    await until('a lease is over', async () => {
      await java.read('k', 5_000);
      await java.unread('k');
      return Date.now() > expiresAt;
    });
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
    expect(await sides.theirs.exists('k')).toBe(0);
  });

  it('that a Java reader has shortened lasts for our reader again when that is renewed, or asks again', async () => {
    start(dialect);
    const { store, settings } = sides.us;
    const holder = newHolderId(store.processId);
    await sides.us.locks.open();
    const { format } = settings.call;
    const step = { key: 'k', holder, ttl: 2_000, tokenBlock: 1, share: READER, format };
    await store.acquire(step);
    await store.extend([{ ...step, ttl: 600_000 }]);
    for (const again of [() => store.extend([step]), () => store.acquire(step)]) {
      await sides.theirs.pexpire('k', 30_000); // as the watchdog of a Java reader does
      await again();
      expect(await sides.theirs.pttl('k')).toBeGreaterThan(500_000);
    }
  });

  it('is not prolonged for a reader of ours whose lease is over', async () => {
    start(dialect);
    const lease = await sides.us.acquire('k', { mode: 'shared', ttl: 500, renew: false });
    await java.read('k', 5_000);
    await until('it is over', () => !lease.held);
    await until('its key is gone', async () => (await sides.theirs.keys('*rwlock*')).length === 1);
    expect(await lease.release()).toBe(false);
    expect(await java.unread('k')).toBe(true);
  });

  it.each([
    ['shared', '0'],
    ['exclusive', '1'],
  ] as const)('that was %s wakes who waits with %s', async (mode, message) => {
    const lease = await start(dialect).acquire('k', { mode });
    const heard = await sides.hears('subscribe', 'redisson_rwlock:{k}');
    await lease.release();
    await until('it is heard', () => heard.length > 0);
    expect(heard).toEqual([message]);
  });

  it('is not taken where an RLock of that name is held', async () => {
    start(dialect);
    await java.lock('k', 5_000);
    await expect(sides.us.acquire('k', { mode: 'shared', wait: 0 })).rejects.toThrow(
      LockNotAcquiredError,
    );
  });
});

describe.each([{ name: 'redisson', kind: 'readWrite' }, { name: 'symfony' }] as const)(
  'readers and writers of %j',
  (dialect) => {
    it.each(['shared', 'exclusive'] as const)(
      'lose at once, %s, what an operator takes, and are told why',
      async (mode) => {
        start(dialect);
        const ask = { mode, ttl: '10m', wait: 0, reentrant: false } as const;
        const leases = [await sides.us.acquire('k', ask)];
        if (mode === 'shared') leases.push(await sides.us.acquire('k', ask));
        await sides.us.force('k');
        await until('they have heard it', () => leases.every(({ held }) => !held));
        for (const { signal } of leases) expect(signal.reason).toMatchObject({ reason: 'forced' });
      },
    );

    it('readers have one token: no writer before has a greater one, and each one after has', async () => {
      start(dialect);
      const writer = await sides.us.acquire('k');
      await writer.release();
      const first = await sides.us.acquire('k', { mode: 'shared', ttl: 200_000 });
      await (await sides.us.acquire('other')).release(); // counts the tokens on
      const second = await sides.us.acquire('k', { mode: 'shared', ttl: 2_000 });
      expect(first.fencingToken).toBeGreaterThan(writer.fencingToken);
      expect(second.fencingToken).toBe(first.fencingToken);
      const [known] = await sides.theirs.keys('*:version');
      expect(await sides.theirs.pttl(known!)).toBeGreaterThan(200_000); // a shorter lease beside shortens nothing
      await second.extend(300_000);
      expect(await sides.theirs.pttl(known!)).toBeGreaterThan(300_000);
      await first.release();
      await second.release();
      const next = await sides.us.acquire('k');
      expect(next.fencingToken).toBeGreaterThan(second.fencingToken);
      await next.release();
      expect(await sides.theirs.keys('*:version')).toEqual([]);
    });
  },
);
