import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { isLockError, LockNotAcquiredError } from '../../lib/index.js';
import { PATIENCE } from '../support/bounds.js';
import { later } from '../support/later.js';
import { until } from '../support/until.js';
import { useScene } from './scene.js';

const scene = useScene();

/** Renewed after a third of it, in ms. */
const TTL = 3_000;

type Attack = (redis: Redis, holder: string) => Promise<unknown>;

describe('another client that writes the key of a held lock', () => {
  const attacks: [string, Attack][] = [
    ['DEL', (redis) => redis.del('lock:k')],
    ['SET', (redis) => redis.set('lock:k', 'theirs')],
    ['SET to nothing', (redis) => redis.set('lock:k', '')],
    ['SET to another id', (redis, holder) => redis.set('lock:k', holder.replace('/', 'x/'))],
    ['SET to a marker', (redis) => redis.set('lock:k', '99999999999999-nest-redis-lock:shared')],
    ['another type', (redis) => redis.multi().del('lock:k').rpush('lock:k', 'theirs').exec()],
    ['RENAME to another lock', (redis) => redis.rename('lock:k', 'lock:other')],
    ['PEXPIRE into the past', (redis) => redis.pexpire('lock:k', -1)],
  ];

  it.each(attacks)('is noticed at the next renewal: %s', async (_, attack) => {
    const process = await scene.process();
    const lease = await process.acquire('k', { ttl: TTL });
    const { redis } = scene.observer;
    await attack(redis, (await scene.observer.holder('k'))!);
    await until('the holder knows', () => lease.signal.aborted);
    await redis.del('lock:k');
    const next = await process.acquire('k', { wait: PATIENCE });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it.each(attacks)('is noticed by a release, which changes nothing: %s', async (_, attack) => {
    const process = await scene.process();
    const lease = await process.acquire('k', { ttl: 60_000 });
    const { redis } = scene.observer;
    await attack(redis, (await scene.observer.holder('k'))!);
    const stands = await standing(redis);
    expect(await lease.release()).toBe(false);
    await until('nothing is under way', () => process.idle);
    expect(await standing(redis)).toEqual(stands);
  });
});

describe.each<[string, Attack]>([
  ['for ever', (redis) => redis.persist('lock:k')],
  ['an hour longer', (redis) => redis.pexpire('lock:k', 3_600_000)],
])('another client that makes the key of a lock last %s', (_, attack) => {
  it('is undone by the next renewal', async () => {
    const process = await scene.process();
    const lease = await process.acquire('k', { ttl: TTL });
    const { redis } = scene.observer;
    await attack(redis, '');
    await until('it ends again', async () => {
      const left = await redis.pttl('lock:k');
      return left > 0 && left <= TTL;
    });
    expect([lease.held, await lease.release()]).toEqual([true, true]);
    expect(await scene.observer.traces()).toEqual([]);
  });

  it('keeps the lock for a holder that is dead, until an operator frees it', async () => {
    const [dead, other] = [await scene.process(), await scene.process()];
    const lease = await dead.acquire('k', { ttl: 500, renew: false });
    await dead.store.close();
    await attack(scene.observer.redis, '');
    await until('its lease is over', () => !lease.held);
    await expect(other.acquire('k', { wait: 50 })).rejects.toThrow(LockNotAcquiredError);
    const waits = later(other.acquire('k', { wait: PATIENCE }));
    await other.waiting('k');
    expect(await other.force('k')).toBe(true);
    expect((await waits).fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('keeps no lock for a reader that is dead', async () => {
    const [dead, other] = [await scene.process(), await scene.process()];
    const lease = await dead.acquire('k', { ttl: 500, renew: false, mode: 'shared' });
    await dead.store.close();
    await attack(scene.observer.redis, '');
    const next = await other.acquire('k', { wait: PATIENCE });
    expect([lease.held, next.held]).toEqual([false, true]);
  });
});

describe('another client that writes garbage beside a lock', () => {
  const queue = '{lock:k}:queue';

  it.each(['%s*[^', '', '/1000/x1', 'a.1.b/c/99999999999999999999/x1', 'a.1.b/c/1000/q1'])(
    'as an entry of its queue holds nobody up: %j',
    async (entry) => {
      const [process, other] = [await scene.process(), await scene.process()];
      const lease = await process.acquire('k', { ttl: 60_000 });
      const { redis } = scene.observer;
      await redis.zadd(queue, 1, entry);
      const waits = later(other.acquire('k', { wait: PATIENCE }));
      await other.waiting('k');
      expect(lease.held).toBe(true);
      expect(await lease.release()).toBe(true);
      const next = await waits;
      expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
      expect(await next.release()).toBe(true);
      expect(await scene.observer.traces()).toEqual([]);
    },
  );

  it.each<[string, (redis: Redis) => Promise<unknown>]>([
    ['a queue that is a text', (redis) => redis.set(queue, 'x')],
    ['heartbeats that are a text', (redis) => redis.set('{lock:k}:seen', 'x')],
    ['holders that are a text', (redis) => redis.set('{lock:k}:holders', 'x')],
    ['holders that are none', (redis) => redis.zadd('{lock:k}:holders', 9e15, '%s*[^')],
    [
      'a fence that is a list',
      (redis) => redis.multi().del('lock:{}:fence').rpush('lock:{}:fence', 'x').exec(),
    ],
    ['a version that is a list', (redis) => redis.rpush('{lock:k}:version', 'x')],
  ])('makes no second holder, and is forgotten once it is gone: %s', async (_, write) => {
    const [process, other] = [await scene.process(), await scene.process()];
    const lease = await process.acquire('k', { ttl: 60_000 });
    const { redis } = scene.observer;
    await write(redis);
    for (const mode of [undefined, 'shared'] as const) {
      const refused = await other
        .acquire('k', { wait: 50, ...(mode && { mode }) })
        .catch((error: unknown) => error);
      expect(isLockError(refused)).toBe(true);
    }
    expect([lease.held, await lease.release()]).toEqual([true, true]);
    await redis.del(
      queue,
      '{lock:k}:seen',
      '{lock:k}:holders',
      '{lock:k}:version',
      'lock:{}:fence',
    );
    const next = await other.acquire('k', { wait: PATIENCE });
    expect(next.held).toBe(true);
    expect(await next.release()).toBe(true);
  });
});

/** All that stands at names of locks. */
async function standing(redis: Redis): Promise<Record<string, string>> {
  const names = (await redis.keys('lock:*')).filter((name) => !name.endsWith(':fence')).sort();
  const dumps = await Promise.all(names.map((name) => redis.dumpBuffer(name)));
  return Object.fromEntries(names.map((name, at) => [name, String(dumps[at]?.toString('hex'))]));
}
