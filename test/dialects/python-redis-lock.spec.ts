import { beforeEach, describe, expect, it } from '@jest/globals';
import { Sides } from './sides.js';

const sides = new Sides();
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
