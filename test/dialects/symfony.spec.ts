import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LockNotAcquiredError } from '../../lib/index.js';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { READER } from '../../lib/engine/options/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { symfony } from './peers/index.js';
import type { PeerClient } from './peers/peer.js';

const [reading, writing] = [symfony('read'), symfony('write')];
describe('a reader of ours in the format of symfony/lock', () => {
  it('whose lease is over gives nothing back, while another reads on', async () => {
    const redis = await RedisProcess.start();
    const control = new Redis(redis.url);
    const us = new LockProcess({ redis: redis.url, dialect: 'symfony' });
    await us.locks.open();
    const { store } = us;
    const { format } = us.settings.call;
    const reader = (ttl: number): LockRequest => {
      const holder = newHolderId(store.processId);
      return { key: 'k', holder, ttl, tokenBlock: 0, share: READER, format };
    };
    const [over, other] = [reader(50), reader(60_000)];
    for (const each of [over, other]) {
      expect((await store.acquire({ ...each, queue: false, wanted: () => true })).kind).toBe(
        'held',
      );
    }
    await until('it is over', async () => {
      const [score, [seconds]] = await Promise.all([
        control.zscore('k', over.holder),
        control.time(),
      ]);
      return Number(score) < Number(seconds) * 1_000;
    });
    expect(await store.release(over, 0)).toBe(false);
    expect(await store.release(other, 0)).toBe(true);
    control.disconnect();
    await us.close();
    await redis.stop();
  });
});

const here = reading.missing === undefined ? describe : describe.skip;

here('readers of symfony/lock', () => {
  let redis: RedisProcess;
  let us: LockProcess;
  let reader: PeerClient;
  let writer: PeerClient;
  let name = 0;
  beforeAll(async () => {
    redis = await RedisProcess.start();
    us = new LockProcess({ redis: redis.url, dialect: 'symfony' });
    reader = await reading.connect(redis.url);
    writer = await writing.connect(redis.url);
  });
  afterEach(() => void (name += 1));
  afterAll(async () => {
    await Promise.all([us.close(), reader.close(), writer.close()]);
    await redis.stop();
  });

  it('and ours read together, and nobody writes meanwhile', async () => {
    const lease = await us.acquire(`k${name}`, { mode: 'shared' });
    expect(await reader.acquire(`k${name}`, 5_000)).toBe(true);
    expect(await writer.acquire(`k${name}`, 5_000)).toBe(false);
    await expect(us.acquire(`k${name}`, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await reader.release(`k${name}`)).toBe(true);
    expect(await writer.acquire(`k${name}`, 5_000)).toBe(false);
    await lease.extend();
    expect(await lease.release()).toBe(true);
    expect(await writer.acquire(`k${name}`, 5_000)).toBe(true);
  });

  it('stay alone among readers when ours leave', async () => {
    expect(await reader.acquire(`k${name}`, 5_000)).toBe(true);
    const lease = await us.acquire(`k${name}`, { mode: 'shared' });
    await lease.release();
    await expect(us.acquire(`k${name}`, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    await reader.release(`k${name}`);
    expect((await us.acquire(`k${name}`, { wait: 0 })).held).toBe(true);
  });

  it('of ours wait for their writer', async () => {
    expect(await writer.acquire(`k${name}`, 5_000)).toBe(true);
    const asked = us.acquire(`k${name}`, { mode: 'shared', wait: 0 });
    await expect(asked).rejects.toThrow(LockNotAcquiredError);
    const waiting = us.acquire(`k${name}`, { mode: 'shared' });
    await us.waiting(`k${name}`);
    expect(await writer.release(`k${name}`)).toBe(true);
    expect((await waiting).held).toBe(true);
  });

  it('wait for our writer, also while it is renewed', async () => {
    const lease = await us.acquire(`k${name}`, { ttl: 2_000 });
    const { expiresAt } = lease;
    await until('a lease is over', async () => {
      expect(await reader.acquire(`k${name}`, 5_000)).toBe(false);
      return Date.now() > expiresAt;
    });
    expect(await lease.release()).toBe(true);
    expect(await reader.acquire(`k${name}`, 5_000)).toBe(true);
  });
});
