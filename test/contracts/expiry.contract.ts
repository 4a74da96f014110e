import { expect } from '@jest/globals';
import { LeaseLostError } from '../../lib/engine/errors/index.js';
import type { PushListener } from '../../lib/engine/locks/lock-store.js';
import { atMost, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { type Wrap, withSteps } from '../support/world.js';

export const expiry: Contract = {
  async 'a lease ends at its ttl, and another gets the lock, not before'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const from = world.clock.monotonic();
    await a.hold({ ttl: 300 });
    await world.until('another gets the lock', async () => {
      const before = world.clock.monotonic();
      const { kind } = await b.try(b.request());
      const after = world.clock.monotonic();
      if (kind === 'held') expect(after - from).toBeGreaterThanOrEqual(299);
      else expect(before - from).toBeLessThan(atMost(world, 1_000));
      return kind === 'held';
    });
  },

  async 'who waits behind a crashed holder has the lock within half a second of its end'(world) {
    const [a, b] = [await world.process(), await world.process()];
    await a.acquire({ ttl: TTL });
    await a.crash();
    const from = b.clock.monotonic();
    const wait = later(b.acquire({ ttl: TTL, wait: Infinity }));
    await world.until('it has asked', () => b.answered.asks > 0);
    await world.outlive(TTL);
    const lease = await world.finish(wait);
    expect(b.clock.monotonic() - from).toBeLessThan(atMost(world, TTL + 500));
    expect(lease.held).toBe(true);
  },

  async 'a deadline counts from the sending of the ask, not from its answer'(world) {
    const process = await world.process({}, (store, clock) =>
      withSteps(store, {
        acquire: async (ask) => {
          const answer = await store.acquire(ask);
          clock.stall(0.4 * TTL);
          return answer;
        },
      }),
    );
    const lease = await process.acquire({ ttl: TTL, renew: false });
    expect(lease.held).toBe(true);
    process.clock.stall(0.6 * TTL);
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
    const lease = await process.acquire({ ttl: TTL, renew: false });
    await world.pass(TTL);
    await world.until('the lease is over', () => lease.signal.aborted);
    await world.until('the lock is free', async () => (await world.snapshot()).type === 'none');
    expect(lease.held).toBe(false);
    expect(await lease.release()).toBe(false);
  },

  async 'renewal ends with maxHold'(world) {
    const process = await world.process();
    const from = process.clock.monotonic();
    const lease = await process.acquire({ ttl: TTL, maxHold: 2 * TTL });
    await world.renewed(process, TTL, 3); // more than a ttl is over
    expect(lease.held).toBe(true);
    await world.until('the lease is over', async () => {
      await world.pass(1_000);
      return lease.signal.aborted;
    });
    expect(process.clock.monotonic() - from).toBeGreaterThan(1.9 * TTL);
    expect(process.clock.monotonic() - from).toBeLessThan(atMost(world, 3 * TTL + 500));
  },

  async 'maxHold ends a lease also where its holder extends it again and again'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: TTL, maxHold: TTL });
    const from = process.clock.monotonic();
    await lease.extend(10 * TTL);
    await world.until('the lease is over', async () => {
      await world.pass(TTL / 5);
      if (!lease.held) return true;
      await lease.extend().catch(() => {}); // it may be over just then
      return !lease.held;
    });
    expect(process.clock.monotonic() - from).toBeGreaterThan(0.9 * TTL);
    expect(process.clock.monotonic() - from).toBeLessThan(atMost(world, 2 * TTL + 500));
  },

  async 'maxHold ends a lease also where its process reconnects again and again'(world) {
    let listener!: PushListener;
    const heard: Wrap = (store) =>
      withSteps(store, { open: (hears) => store.open((listener = hears)) });
    const process = await world.process({}, heard);
    const from = process.clock.monotonic();
    const lease = await process.acquire({ ttl: TTL, maxHold: TTL });
    await world.until('the lease is over', async () => {
      await world.pass(TTL / 5);
      if (lease.signal.aborted) return true;
      listener.reconnected(); // what is held is looked at
      expect(process.clock.monotonic() - from).toBeLessThan(atMost(world, 2 * TTL + 500));
      return false;
    });
    expect(process.clock.monotonic() - from).toBeGreaterThan(0.9 * TTL);
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
