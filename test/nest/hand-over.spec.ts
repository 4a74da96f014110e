import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  CurrentLease,
  type Lease,
  LeaseLostError,
  Locked,
  LockKeyError,
  LockService,
} from '../../lib/index.js';
import { memoryLockService, MemoryServer } from '../../lib/memory/testing/index.js';
import { useBench } from '../support/nest-app.js';

const bench = useBench();

@Injectable()
class Shipping {
  @Locked('order:<_order>', { wait: 0 })
  async begin(_order: string, fails: boolean, @CurrentLease() lease?: Lease): Promise<string> {
    const text = await lease!.handOver();
    if (fails) throw new Error(text);
    return text;
  }
}

describe('a lease that a method hands over', () => {
  it('outlives the method, whose result counts', async () => {
    const app = await bench.app({ providers: [Shipping] });
    const other = await bench.app({});
    const text = await app.get(Shipping).begin('1', false);
    await expect(app.get(Shipping).begin('1', false)).rejects.toThrow('is held by another');
    const lease = await other.get(LockService).restore(text);
    expect(lease).toMatchObject({ key: 'order:1', held: true });
    await lease.run(async () => {
      await other.get(LockService).withLock('order:1', async (again) => {
        expect(again.fencingToken).toBe(lease.fencingToken);
      });
    });
    await lease.release();
    await app.get(Shipping).begin('1', false);
  });

  it('outlives the method also if that fails afterwards', async () => {
    const app = await bench.app({ providers: [Shipping] });
    const error = (await app
      .get(Shipping)
      .begin('2', true)
      .catch((reason: unknown) => reason)) as Error;
    expect(error).not.toBeInstanceOf(LeaseLostError);
    const lease = await app.get(LockService).restore(error.message);
    expect(await lease.release()).toBe(true);
  });
});

describe('restore', () => {
  it('refuses a text that is none, and a key that would be none', async () => {
    const locks = memoryLockService();
    await expect(locks.restore('order:1')).rejects.toThrow(LockKeyError);
    const text = await (await locks.acquire('k')).handOver();
    const words = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    (words[2] as unknown[])[1] = 'a}b{';
    const bad = Buffer.from(JSON.stringify(words)).toString('base64url');
    for (const step of ['restore', 'discard'] as const) {
      await expect(locks[step](bad)).rejects.toThrow(LockKeyError);
      await expect(locks[step]('order:1')).rejects.toThrow(LockKeyError);
    }
    expect(await locks.discard(text)).toBe(true);
    expect((await locks.inspect('k')).state).toBe('free');
    await locks.onApplicationShutdown();
  });

  it('takes no more than its process may hold, however many it takes at once', async () => {
    const server = new MemoryServer();
    const [giver, taker] = [
      memoryLockService({ server }),
      memoryLockService({ server, limits: { leases: 1 } }),
    ];
    const texts = await Promise.all(
      ['a', 'b'].map(async (key) => (await giver.acquire(key)).handOver()),
    );
    const [first, second] = await Promise.allSettled(texts.map((text) => taker.restore(text)));
    expect(second).toMatchObject({ reason: { code: 'LOCK_LIMIT' } });
    expect(first!.status).toBe('fulfilled');
    await (first as PromiseFulfilledResult<Lease>).value.release();
    await (await taker.restore(texts[1]!)).release(); // it was refused unread
    await Promise.all([giver, taker].map((service) => service.onApplicationShutdown()));
  });

  it('takes several only where its process may hold them all', async () => {
    const server = new MemoryServer();
    const giver = memoryLockService({ server });
    const taker = memoryLockService({ server, limits: { leases: 2 } });
    const held = await taker.acquire('other');
    const text = await (await giver.acquire(['a', 'b'])).handOver();
    await expect(taker.restore(text)).rejects.toMatchObject({ code: 'LOCK_LIMIT' });
    await held.release();
    await (await taker.restore(text)).release(); // it was refused unread
    await Promise.all([giver, taker].map((service) => service.onApplicationShutdown()));
  });

  it('takes several only where its process may hold them all, however many come at once', async () => {
    const server = new MemoryServer();
    const giver = memoryLockService({ server });
    const taker = memoryLockService({ server, limits: { leases: 3 } });
    const texts = await Promise.all(
      [
        ['a', 'b'],
        ['c', 'd'],
      ].map(async (keys) => (await giver.acquire(keys)).handOver()),
    );
    const [first, second] = await Promise.allSettled(texts.map((text) => taker.restore(text)));
    expect(first!.status).toBe('fulfilled');
    expect(second!.status === 'rejected' && second!.reason).toMatchObject({ code: 'LOCK_LIMIT' });
    await Promise.all([giver, taker].map((service) => service.onApplicationShutdown()));
  });

  it('refuses what is over, and at a shutdown', async () => {
    const locks = memoryLockService({ limits: { leases: 1 } });
    const text = await (await locks.acquire('k')).handOver();
    const held = await locks.acquire('other');
    await expect(locks.restore(text)).rejects.toMatchObject({ code: 'LOCK_LIMIT' });
    await held.release();
    await (await locks.restore(text)).release();
    await expect(locks.restore(text)).rejects.toThrow(LeaseLostError);
    locks.onModuleDestroy();
    await expect(locks.restore(text)).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    await locks.onApplicationShutdown();
    await expect(locks.discard(text)).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
  });
});
