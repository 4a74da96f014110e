import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockNotAcquiredError } from '../../lib/index.js';
import { until } from '../support/until.js';
import { SpringRegistry, type SpringWaiting } from './peers/spring.js';
import { Sides } from './sides.js';

const sides = new Sides();
const dialect = { name: 'spring', registry: 'app:locks' } as const;
let spring: SpringRegistry;

function registry(waiting: SpringWaiting): SpringRegistry {
  spring = new SpringRegistry(sides.another(), 'app:locks', waiting);
  return sides.closing(spring, (one) => one.close());
}

/** How many of them listen on a channel, or by a pattern. */
async function listening(): Promise<number> {
  const channel = await sides.listeners('app:locks-channel');
  return channel + ((await sides.theirs.pubsub('NUMPAT')) as unknown as number);
}

describe.each(['one channel', 'a channel a lock'] as const)(
  'a RedisLockRegistry with %s',
  (waiting) => {
    beforeEach(() => {
      sides.start(dialect);
      registry(waiting);
    });

    it('has a waiter who is woken when we give the lock back', async () => {
      const lease = await sides.us.acquire('k', { ttl: 60_000 });
      const waiting = spring.lock('k', 60_000);
      await until('they listen', async () => (await listening()) === 1);
      await lease.release();
      await waiting;
      expect(await spring.unlock('k')).toBe(true);
    });

    it('has a waiter who is woken when an operator takes it from us', async () => {
      await sides.us.acquire('k', { ttl: 60_000 });
      const waiting = spring.lock('k', 60_000);
      await until('they listen', async () => (await listening()) === 1);
      await sides.us.force('k');
      await waiting;
    });

    it('has nobody woken for what stays taken', async () => {
      const lease = await sides.us.acquire('k', { minHold: 60_000 });
      const heard = await sides.hears('psubscribe', 'app:locks-channel*');
      await lease.release();
      const other = await sides.us.acquire('other');
      await other.release();
      await until('the next is heard', () => heard.length > 0);
      expect(heard.every((message) => message === 'app:locks:other')).toBe(true);
      expect(await spring.obtain('k', 5_000)).toBe(false);
    });
  },
);

describe('a RedisLockRegistry', () => {
  beforeEach(() => void registry('a channel a lock'));

  it('that waits without a channel is not published to', async () => {
    sides.start({ ...dialect, publish: false });
    const heard = await sides.hears('psubscribe', 'app:locks-channel*');
    await (await sides.us.acquire('k')).release();
    await sides.theirs.publish('app:locks-channel', 'the last');
    await until('the last is heard', () => heard.length > 0);
    expect(heard).toEqual(['the last']);
  });

  it('is told where it listens also if our client has a prefix', async () => {
    const redis = { port: sides.redis.port, keyPrefix: 'app:' };
    const us = sides.client({ redis, dialect: { name: 'spring', registry: 'locks' } });
    const lease = await us.acquire('k', { ttl: 60_000 });
    expect(await spring.obtain('k', 5_000)).toBe(false);
    const waiting = spring.lock('k', 60_000);
    await until('they listen', async () => (await listening()) === 1);
    await lease.release();
    await waiting;
  });

  it('of another key has other locks', async () => {
    sides.start(dialect);
    await sides.us.acquire('k');
    const others = new SpringRegistry(sides.theirs, 'others', 'spin');
    expect(await others.obtain('k', 5_000)).toBe(true);
  });

  it('that takes its lock once more keeps us out as long as it says', async () => {
    sides.start(dialect);
    expect(await spring.obtain('k', 300)).toBe(true);
    expect(await spring.obtain('k', 60_000)).toBe(true);
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await sides.theirs.pttl('app:locks:k')).toBeGreaterThan(50_000);
  });
});
