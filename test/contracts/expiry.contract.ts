import { expect } from '@jest/globals';
import { LeaseLostError } from '../../lib/errors/index.js';
import type { Contract } from '../support/contract.js';
import { withPrimitive } from '../support/world.js';

export const expiry: Contract = {
  async 'a lease ends at its ttl, and another gets the lock, not before'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const from = world.clock.monotonic();
    await a.hold({ ttl: 150 });
    await world.until('another gets the lock', async () => {
      const before = world.clock.monotonic();
      const { kind } = await b.try(b.claim());
      const after = world.clock.monotonic();
      if (kind === 'held') expect(after - from).toBeGreaterThanOrEqual(149);
      else expect(before - from).toBeLessThan(1_000);
      return kind === 'held';
    });
  },

  async 'who waits behind a crashed holder has the lock within half a second of its end'(world) {
    const [a, b] = [await world.process(), await world.process()];
    await a.acquire({ ttl: 300 });
    await a.crash();
    const from = world.clock.monotonic();
    const lease = await world.finish(b.acquire({ ttl: 1_000 }));
    expect(world.clock.monotonic() - from).toBeLessThan(800);
    expect(lease.held).toBe(true);
  },

  async 'a deadline counts from the sending of the ask, not from its answer'(world) {
    const process = await world.process({}, (store, clock) =>
      withPrimitive(store, {
        acquire: async (ask) => {
          const answer = await store.lock.acquire(ask);
          clock.stall(400);
          return answer;
        },
      }),
    );
    const lease = await process.acquire({ ttl: 1_000, renew: false });
    expect(lease.held).toBe(true);
    process.clock.stall(600);
    expect(lease.held).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LeaseLostError);
  },

  async 'a deadline leaves room for clocks that drift'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: 1_000, renew: false });
    process.clock.stall(1_000 - 11);
    expect(lease.held).toBe(false);
  },

  async 'a lease that is not renewed ends'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: 100, renew: false });
    await world.until('the lease is over', () => lease.signal.aborted);
    await world.until('the lock is free', async () => (await world.sight()).type === 'none');
    expect(lease.held).toBe(false);
    expect(await lease.release()).toBe(false);
  },

  async 'renewal ends with maxHold'(world) {
    const process = await world.process();
    const from = world.clock.monotonic();
    const lease = await process.acquire({ ttl: 200, maxHold: 400 });
    await world.until('the lease is over', () => lease.signal.aborted);
    expect(world.clock.monotonic() - from).toBeGreaterThan(350);
    expect(world.clock.monotonic() - from).toBeLessThan(900);
  },

  async 'a minimum hold outlives the work'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const from = world.clock.monotonic();
    const lease = await a.acquire({ minHold: 200 });
    expect(await lease.release()).toBe(true);
    await world.finish(b.acquire());
    expect(world.clock.monotonic() - from).toBeGreaterThanOrEqual(195);
  },
};

export const expiryOnRedis: Contract = {};
