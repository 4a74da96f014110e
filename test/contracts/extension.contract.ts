import { expect } from '@jest/globals';
import { LockStoreError } from '../../lib/errors/index.js';
import type { Contract } from '../support/contract.js';
import { withPrimitive } from '../support/world.js';

export const extension: Contract = {
  async 'an extension gives the lease its ttl from now on'(world) {
    const a = await world.client();
    const { claim } = await a.hold({ ttl: 1_000 });
    expect((await a.lock.extend([{ ...claim, ttl: 4_000 }])).remaining).toEqual([4_000]);
    expect((await world.sight()).remaining).toBeGreaterThan(3_000);
  },

  async 'an extension never shortens a lease'(world) {
    const a = await world.client();
    const { claim } = await a.hold({ ttl: 5_000 });
    const [left] = (await a.lock.extend([{ ...claim, ttl: 100 }])).remaining;
    expect(left).toBeGreaterThan(4_000);
    expect((await world.sight()).remaining).toBeGreaterThan(4_000);
  },

  async 'what cannot be extended does not stop the rest of the batch'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const first = await a.hold({ key: 'first', ttl: 1_000 });
    await b.hold({ key: 'another’s' });
    await world.plant('no lock', 'hash');
    const last = await a.hold({ key: 'last', ttl: 1_000 });
    const batch = [
      { ...first.claim, ttl: 4_000 },
      a.claim({ key: 'another’s' }),
      a.claim({ key: 'no lock' }),
      a.claim({ key: 'nothing' }),
      { ...last.claim, ttl: 4_000 },
    ];
    const extended = await a.extend(batch).catch(String);
    expect(extended).toEqual([4_000, world.gone, 'taken', 'free', 4_000]);
  },

  async 'a process renews hundreds of leases in their order'(world) {
    const a = await world.client();
    const keys = Array.from({ length: 300 }, (_, at) => `k${at}`);
    const held = await Promise.all(keys.map((key) => a.hold({ key, ttl: 10_000 })));
    await a.lock.release(held[150]!.claim, 0);
    const claims = held.map(({ claim }) => ({ ...claim, ttl: 20_000 }));
    const remaining = await a.extend(claims);
    expect(remaining).toEqual(keys.map((_, at) => (at === 150 ? 'free' : 20_000)));
  },

  async 'a lease is renewed as long as it is held'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const lease = await a.acquire({ ttl: 300 });
    const end = world.clock.monotonic() + 1_000;
    await world.until('a second is over', async () => {
      expect((await b.try(b.claim())).kind).toBe('busy');
      return world.clock.monotonic() > end;
    });
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  },

  async 'a renewal that fails is tried again'(world) {
    let failures = 0;
    const process = await world.process({}, (store) =>
      withPrimitive(store, {
        extend: async (claims) => {
          if ((failures += 1) <= 2) throw new LockStoreError('The lock store failed.');
          return store.lock.extend(claims);
        },
      }),
    );
    const lease = await process.acquire({ ttl: 400 });
    const end = world.clock.monotonic() + 800;
    await world.until('two ttls are over', () => {
      return !lease.held || world.clock.monotonic() > end;
    });
    expect(lease.held).toBe(true);
    expect(failures).toBeGreaterThan(2);
  },

  async 'a renewal that fails for good is no loss before the deadline, and one at the deadline'(
    world,
  ) {
    const process = await world.process({}, (store) =>
      withPrimitive(store, {
        extend: () => Promise.reject(new LockStoreError('The lock store failed.')),
      }),
    );
    const from = world.clock.monotonic();
    const lease = await process.acquire({ ttl: 300 });
    await world.until('the lease is lost', () => lease.signal.aborted);
    const after = world.clock.monotonic() - from;
    expect(after).toBeGreaterThanOrEqual(290);
    expect(after).toBeLessThan(600);
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'expired' });
  },

  async 'a caller may ask for more time, never for less'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: 1_000 });
    const before = lease.expiresAt;
    await lease.extend(5_000);
    expect(lease.expiresAt - before).toBeGreaterThan(3_000);
    const longer = lease.expiresAt;
    await lease.extend(100);
    expect(lease.expiresAt).toBeGreaterThanOrEqual(longer - 100);
    expect(lease.held).toBe(true);
  },

  async 'a short first lease is lengthened to its ttl, also without renewal'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const first = await a.acquire();
    const wait = b.acquire({ ttl: 20_000, renew: false });
    await world.waiting(1);
    await first.release();
    const lease = await world.finish(wait);
    await world.until('the lease is lengthened', async () => {
      return (await world.sight()).remaining > 15_000;
    });
    expect(lease.held).toBe(true);
  },
};

export const extensionOnRedis: Contract = {
  async 'an extension keeps the last token for a day, and longer if the token leads the clock'(
    world,
  ) {
    const { control, prefix } = world.redis!;
    const a = await world.client();
    const { claim } = await a.hold();
    const fence = `{${prefix}k}:fence`;
    await control.pexpire(fence, 1_000);
    await a.lock.extend([claim]);
    expect(await control.pttl(fence)).toBeGreaterThan(86_399_000);
    const ahead = Date.now() + 3_600_000;
    await control.set(fence, `${ahead}000`, 'PX', 1_000);
    await a.lock.extend([claim]);
    expect(await control.pttl(fence)).toBeGreaterThan(86_400_000 + 3_590_000);
  },

  async 'a fence of a foreign type does not stop the batch'(world) {
    const { control, prefix } = world.redis!;
    const a = await world.client();
    const first = await a.hold({ key: 'first' });
    const second = await a.hold({ key: 'second' });
    await control.del(`{${prefix}first}:fence`);
    await control.hset(`{${prefix}first}:fence`, 'a', '1');
    const remaining = await a.extend([first.claim, second.claim]);
    expect(remaining).toEqual([5_000, 5_000]);
  },
};
