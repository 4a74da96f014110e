import { afterEach, describe, expect, it } from '@jest/globals';
import { LockOptionsError, type LockService } from 'nest-redis-lock';
import { type LockTestingOptions, memoryLockService } from 'nest-redis-lock/testing';

let locks: LockService;
afterEach(() => locks.onApplicationShutdown());

async function start(options: LockTestingOptions): Promise<void> {
  locks = memoryLockService(options);
  await locks.onModuleInit();
}

describe('where the module has nodes', () => {
  it.each<[what: string, call: () => Promise<unknown>, says: string]>([
    ['readers', () => locks.acquire('k', { mode: 'shared' }), 'share a lock'],
    ['permits', () => locks.semaphore('k', { permits: 2 }).acquire(), 'share a lock'],
    ['optimistic reads', () => locks.optimistic('k'), 'read optimistically'],
    [
      'awaiting a condition',
      async () => locks.condition(await locks.acquire('k'), 'c').await(),
      'await a condition',
    ],
    [
      'signals',
      async () => locks.condition(await locks.acquire('k'), 'c').signal(),
      'signal a condition',
    ],
    [
      'handing over',
      async () => {
        const lease = await locks.acquire('k');
        return locks.restore(await lease.handOver());
      },
      'hand a lease over',
    ],
    ['downgrades', async () => (await locks.acquire('k')).downgrade(), 'downgrade a lock'],
  ])('the locks in memory have no %s, as those of a quorum', async (_, call, says) => {
    await start({ nodes: ['redis://a', 'redis://b', 'redis://c'] });
    const outcome = await call().catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(LockOptionsError);
    expect((outcome as Error).message).toContain(`A quorum cannot ${says}`);
  });

  it('a lock is taken, lengthened and given back', async () => {
    await start({ nodes: ['redis://a', 'redis://b', 'redis://c'], ttl: '10s' });
    const lease = await locks.acquire('k');
    await lease.extend('1h');
    expect(await locks.tryAcquire('k')).toBeNull();
    await lease.release();
  });
});

describe("where durability is 'refuse'", () => {
  it('no lease in memory is longer than the ttl of the module', async () => {
    await start({ durability: 'refuse', ttl: '10s' });
    const lease = await locks.acquire('k', { ttl: '10s' });
    const LONGER = 'where "durability" is \'refuse\' no lease is longer than the module\'s "ttl"';
    await expect(locks.acquire('other', { ttl: '11s' })).rejects.toThrow(LONGER);
    await expect(lease.extend('11s')).rejects.toThrow(LONGER);
    await lease.extend('10s');
    expect(lease.held).toBe(true);
    expect((await locks.inspect('other')).state).toBe('free');
  });
});
