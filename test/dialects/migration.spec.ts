import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { CurrentLease, Lease, Locked, LockNotAcquiredError, LockService } from '../../lib/index.js';
import { NestBench } from '../support/nest-app.js';

let bench: NestBench;
let theirs: Redis;
beforeAll(async () => {
  bench = await NestBench.start();
  theirs = new Redis(bench.redis.url);
});
afterAll(async () => {
  theirs.disconnect();
  await bench.stop();
});

@Injectable()
class Stock {
  @Locked('stock:<_id>', { dialect: 'redisson', wait: 0 })
  @Locked('stock:<_id>', { wait: 0 })
  async take(_id: string, @CurrentLease() lease?: Lease): Promise<[string[], number]> {
    return [
      (await theirs.keys('*stock*')).filter((key) => !/:(fence|version)$/.test(key)),
      lease!.fencingToken,
    ];
  }
}

/** What docs/migration.md says of replicas that are replaced one after the other. */
describe('a migration', () => {
  it.each([
    ['redlock', ''],
    ['redis-semaphore', 'mutex:'],
    [{ name: 'plain', prefix: 'lock:' }, 'lock:'],
    ['shedlock', 'job-lock:default:'],
    [{ name: 'spring', registry: 'orders' }, 'orders:'],
    ['python-redis-lock', 'lock:'],
  ] as const)(
    'from %j to native locks of prefix %s lets nobody in twice, and tokens grow',
    async (dialect, keyPrefix) => {
      const before = (await bench.app({}, { dialect })).get(LockService);
      const after = (await bench.app({}, { keyPrefix })).get(LockService);
      const first = await before.acquire('a');
      await expect(after.acquire('a', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
      const waiting = after.acquire('a');
      await first.release();
      const second = await waiting;
      expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
      await expect(before.acquire('a', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
      await second.release();
      const third = await before.acquire('a', { wait: 0 });
      expect(third.fencingToken).toBeGreaterThan(second.fencingToken);
      await third.release();
    },
  );

  it('from another format goes by way of both locks, each of which excludes its own', async () => {
    const stock = (await bench.app({ providers: [Stock] })).get(Stock);
    const [keys, token] = await stock.take('1');
    expect(keys.sort()).toEqual(['lock:stock:1', 'stock:1']);
    expect(token).toBeGreaterThan(0);
    await theirs.hset('stock:2', 'a-thread-of-java:1', 1);
    await expect(stock.take('2')).rejects.toThrow(LockNotAcquiredError);
    await theirs.set('lock:stock:3', 'a replica that has left the dialect');
    await expect(stock.take('3')).rejects.toThrow(LockNotAcquiredError);
    expect(await theirs.exists('stock:3')).toBe(0);
  });
});
