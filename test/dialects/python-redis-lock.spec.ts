import { beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import { pythonRedisLock } from './peers/index.js';
import type { PeerClient } from './peers/peer.js';
import { Sides } from './sides.js';

const sides = new Sides();
const here = pythonRedisLock.missing === undefined ? describe : describe.skip;

/** How many of their waiters sleep on the signal. */
async function asleep(): Promise<number> {
  const clients = (await sides.theirs.client('LIST')) as string;
  return clients.match(/cmd=blpop/g)?.length ?? 0;
}

here('waiters of python-redis-lock, who sleep without an end,', () => {
  let python: PeerClient[];
  beforeEach(async () => {
    sides.start('python-redis-lock');
    python = await Promise.all([1, 2].map(() => sides.peer(pythonRedisLock)));
  });

  async function waiting(): Promise<boolean[]> {
    const got: boolean[] = [];
    for (const client of python)
      void client.wait!('k').then(
        (answer) => got.push(answer),
        () => {},
      );
    await until('both sleep', async () => (await asleep()) === 2);
    return got;
  }

  it('are woken one at a time, when we give the lock back and when they do', async () => {
    const lease = await sides.us.acquire('k');
    const got = await waiting();
    const before = await sides.calls('set'); // with which each asks whenever it is woken
    expect(await lease.release()).toBe(true);
    await until('the first has it', () => got.length === 1);
    await sides.us.force('k');
    await until('the second has it', () => got.length === 2);
    expect(got).toEqual([true, true]);
    expect(await sides.calls('set')).toBe(before + 2);
  });
});

describe('a lock of python-redis-lock', () => {
  beforeEach(() => void sides.start('python-redis-lock'));

  it('leaves a signal of one element, for a second, whatever was there', async () => {
    await sides.theirs.rpush('lock-signal:k', 1, 1, 1);
    const lease = await sides.us.acquire('k');
    expect(await sides.theirs.exists('lock:k')).toBe(1);
    await lease.release();
    expect(await sides.theirs.exists('lock:k')).toBe(0);
    expect(await sides.theirs.lrange('lock-signal:k', 0, -1)).toEqual(['1']);
    const left = await sides.theirs.pttl('lock-signal:k');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(1_000);
  });

  it('leaves it beside the lock, whatever a client puts before its keys', async () => {
    const redis = { port: sides.redis.port, keyPrefix: 'block:' };
    const us = sides.client({ redis, dialect: 'python-redis-lock' });
    const lease = await us.acquire('lock:k');
    expect(await sides.theirs.exists('block:lock:lock:k')).toBe(1);
    await lease.release();
    expect(await sides.theirs.keys('*signal*')).toEqual(['block:lock-signal:lock:k']);
  });

  it('has no signal of who does not hold it', async () => {
    const lease = await sides.us.acquire('k', { ttl: 10_000, renew: false });
    await sides.theirs.set('lock:k', 'another’s', 'PX', 60_000);
    expect(await lease.release()).toBe(false);
    expect(await sides.theirs.exists('lock-signal:k')).toBe(0);
  });

  it('has an owner that Python can decode', async () => {
    await sides.us.acquire('k');
    expect(await sides.theirs.get('lock:k')).toMatch(/^[\x20-\x7e]+$/);
  });
});
