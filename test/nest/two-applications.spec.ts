import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { LockNotAcquiredError, LockOptionsError, LockShutdownError } from '../../lib/index.js';
import { LockTestingModule, ManualClock, MemoryServer } from '../../lib/memory/testing/index.js';
import { Shop } from './shop.js';

Logger.overrideLogger(false);

let clock: ManualClock;
let apps: TestingModule[] = [];
beforeEach(() => {
  clock = new ManualClock();
});
afterEach(async () => {
  for (const app of apps) await app.close();
  apps = [];
});

describe('two applications in one process, with one class under @Locked and @LeaderOnly', () => {
  it('lock each with its own service, and know nothing of each other on two servers', async () => {
    const [a, b] = [await start(new MemoryServer(clock)), await start(new MemoryServer(clock))];
    await a.sell(() =>
      b.sell(async () => {
        expect((await a.locks.inspect('shop')).state).toBe('held');
        expect(a.locks.current()).not.toBe(b.locks.current());
        expect((await b.locks.inspect('shop')).state).toBe('held');
      }),
    );
    await clock.advance(10);
    expect([await leads(a), await leads(b)]).toEqual([true, true]);
  });

  it('compete as two replicas do on one server', async () => {
    const server = new MemoryServer(clock);
    const [a, b] = [await start(server), await start(server)];
    await a.sell(async () => {
      await expect(b.sell(async () => {})).rejects.toThrow(LockNotAcquiredError);
      expect(await a.sell(async () => 'again')).toBe('again');
    });
    await clock.advance(10);
    expect([await leads(a), await leads(b)].filter(Boolean)).toHaveLength(1);
  });

  it.each(['another server', 'the same server'])(
    'refuse conditions of each other’s leases, on %s, and leave them alone',
    async (where) => {
      const server = new MemoryServer(clock);
      const other = where === 'the same server' ? server : new MemoryServer(clock);
      const [a, b] = [await start(server), await start(other)];
      const lease = await a.locks.acquire('shop');
      const signals = async (): Promise<unknown> => b.locks.condition(lease, 'open').signal();
      await expect(signals()).rejects.toThrow(LockOptionsError);
      await expect(signals()).rejects.toThrow('Another LockService granted the lease');
      expect(lease.held).toBe(true);
      expect(await a.locks.condition(lease, 'open').signal()).toBe(false);
      expect(await lease.release()).toBe(true);
      expect((await a.locks.inspect('shop')).state).toBe('free');
    },
  );

  it('of which one was closed, the other works on and leads', async () => {
    const server = new MemoryServer(clock);
    const [a, b] = [await start(server), await start(server)];
    await clock.advance(10);
    expect(await leads(a)).toBe(true);
    await apps.shift()!.close();
    await expect(a.sell(async () => {})).rejects.toThrow(LockShutdownError);
    expect(await b.sell(async () => 'sold')).toBe('sold');
    await clock.advance(2_000);
    expect([await leads(a), await leads(b)]).toEqual([false, true]);
    const c = await start(server); // once more, after the class has been in two
    expect(await c.sell(async () => 'sold')).toBe('sold');
  });
});

/** An application with a shop. */
async function start(server: MemoryServer): Promise<Shop> {
  const app = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot({ server })],
    providers: [Shop],
  }).compile();
  apps.push(await app.init());
  return app.get(Shop);
}

/** Whether work of the leader was done there. */
async function leads(shop: Shop): Promise<boolean> {
  const before = shop.led;
  await shop.lead();
  return shop.led > before;
}
