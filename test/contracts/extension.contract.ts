import { expect } from '@jest/globals';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { atMost, POLL, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { Gate } from '../support/gate.js';
import { later } from '../support/later.js';
import { type Wrap, withSteps } from '../support/world.js';

export const extension: Contract = {
  async 'an extension gives the lease its ttl from now on'(world) {
    const a = await world.client();
    const { request } = await a.hold({ ttl: TTL });
    expect((await a.lock.extend([{ ...request, ttl: 3 * TTL }])).remaining).toEqual([3 * TTL]);
    expect((await world.snapshot()).remaining).toBeGreaterThan(2 * TTL);
  },

  async 'an extension never shortens a lease'(world) {
    const a = await world.client();
    const { request } = await a.hold({ ttl: 3 * TTL });
    const [left] = (await a.lock.extend([{ ...request, ttl: 1_000 }])).remaining;
    expect(left).toBeGreaterThan(2 * TTL);
    expect((await world.snapshot()).remaining).toBeGreaterThan(2 * TTL);
  },

  async 'a lease that was extended is given back also where that fails for longer than its ttl'(
    world,
  ) {
    let away = false;
    const goesAway: Wrap = (store) => {
      const step = (name: 'release' | 'leave') => (request: LockRequest) => {
        const lost = { outcome: 'unsent', retryable: true } as const;
        if (away) return Promise.reject(new LockStoreError('Redis is not connected.', lost));
        return name === 'leave' ? store.leave(request) : store.release(request, 0);
      };
      return withSteps(store, { release: step('release'), leave: step('leave') });
    };
    const process = await world.process({}, goesAway);
    const lease = await process.acquire({ ttl: TTL });
    await lease.extend(10 * TTL);
    away = true;
    const released = later(lease.release());
    for (let passed = 0; passed < 1.5 * TTL; passed += TTL / 10) await world.pass(TTL / 10);
    await world.finish(released);
    away = false;
    await world.pass(3 * POLL); // longer than the pause between two tries
    await world.until('it is free', async () => (await world.snapshot()).type === 'none');
  },

  async 'what cannot be extended does not stop the rest of the batch'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const first = await a.hold({ key: 'first', ttl: TTL });
    await b.hold({ key: 'another’s' });
    await world.plant('no lock', 'hash');
    const last = await a.hold({ key: 'last', ttl: TTL });
    const batch = [
      { ...first.request, ttl: 2 * TTL },
      a.request({ key: 'another’s' }),
      a.request({ key: 'no lock' }),
      a.request({ key: 'nothing' }),
      { ...last.request, ttl: 2 * TTL },
    ];
    const extended = await a.extend(batch).catch(String);
    expect(extended).toEqual([2 * TTL, world.gone, 'taken', 'free', 2 * TTL]);
  },

  async 'a process renews hundreds of leases in their order'(world) {
    const a = await world.client();
    const keys = Array.from({ length: 300 }, (_, at) => `k${at}`);
    const held = await Promise.all(keys.map((key) => a.hold({ key, ttl: TTL })));
    await a.lock.release(held[150]!.request, 0);
    const requests = held.map(({ request }) => ({ ...request, ttl: 2 * TTL }));
    const remaining = await a.extend(requests);
    expect(remaining).toEqual(keys.map((_, at) => (at === 150 ? 'free' : 2 * TTL)));
  },

  async 'a lease is renewed as long as it is held'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const lease = await a.acquire({ ttl: TTL });
    for (let time = 0; time < 10; time += 1) {
      await world.renewed(a, TTL);
      expect((await b.try(b.request())).kind).toBe('busy');
    }
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  },

  async 'a renewal that fails is tried again'(world) {
    let failures = 0;
    const process = await world.process({}, (store) =>
      withSteps(store, {
        extend: async (requests) => {
          if ((failures += 1) <= 2) throw new LockStoreError('The lock store failed.');
          return store.extend(requests);
        },
      }),
    );
    const lease = await process.acquire({ ttl: TTL });
    await world.pass(TTL / 3 + 100);
    for (const failed of [1, 2]) {
      await world.until('a renewal failed', () => failures >= failed);
      await world.pass(1_000); // the longest pause before the next
    }
    await world.until('it is renewed', () => process.answered.renewals === 1);
    await world.renewed(process, TTL, 3);
    expect(lease.held).toBe(true);
  },

  async 'a renewal that fails for good is no loss before the deadline, and one at the deadline'(
    world,
  ) {
    const process = await world.process({}, (store) =>
      withSteps(store, {
        extend: () => Promise.reject(new LockStoreError('The lock store failed.')),
      }),
    );
    const from = process.clock.monotonic();
    const lease = await process.acquire({ ttl: 2 * TTL });
    await world.pass(1.5 * TTL);
    expect([lease.held, lease.signal.aborted]).toEqual([true, false]);
    await world.pass(0.5 * TTL);
    await world.until('the lease is lost', () => lease.signal.aborted);
    expect(process.clock.monotonic() - from).toBeLessThan(atMost(world, 2 * TTL + 100));
    expect(lease.signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'expired' });
  },

  async 'a caller may ask for more time, never for less'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: TTL });
    const before = lease.expiresAt;
    await lease.extend(3 * TTL);
    expect(lease.expiresAt - before).toBeGreaterThan(TTL);
    const longer = lease.expiresAt;
    await lease.extend(1_000);
    expect(lease.expiresAt).toBeGreaterThan(longer - TTL);
    expect(lease.held).toBe(true);
  },

  async 'a caller has the time it asked for also where a later renewal is answered first'(world) {
    const [long, answer] = [20 * TTL, new Gate()];
    const process = await world.process({}, (store) =>
      withSteps(store, {
        extend: (requests) => {
          const extension = store.extend(requests);
          return requests[0]!.ttl === long ? answer.after(extension) : extension;
        },
      }),
    );
    const lease = await process.acquire({ ttl: TTL });
    const extending = later(lease.extend(long));
    const lasts = async (): Promise<boolean> => (await world.snapshot()).remaining > long / 2;
    await world.until('the server has extended it', lasts);
    await world.renewed(process, TTL);
    answer.open();
    await world.finish(extending);
    await world.renewed(process, TTL);
    expect(await lasts()).toBe(true);
    expect(lease.expiresAt).toBeGreaterThan(process.clock.wall() + long / 2);
  },

  async 'a short first lease is lengthened to its ttl, also without renewal'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const first = await a.acquire();
    const wait = b.acquire({ ttl: 3 * TTL, renew: false });
    await world.waiting(1);
    await first.release();
    const lease = await world.finish(wait);
    await world.until('the lease is lengthened', async () => {
      return (await world.snapshot()).remaining > 2 * TTL;
    });
    expect(lease.held).toBe(true);
  },
};

export const extensionOnRedis: Contract = {
  async 'an extension neither needs nor changes the fence, and the tokens after it are greater all the same'(
    world,
  ) {
    const { control } = world.redis!;
    const a = await world.client();
    const { request, grant } = await a.hold();
    const [fence] = await control.keys('*:fence');
    await control.pexpire(fence!, 1_000);
    await a.lock.extend([request]);
    expect(await control.pttl(fence!)).toBeLessThanOrEqual(1_000);
    await control.del(fence!); // as when it has ended: a day after its value by the same clock
    expect(await a.extend([request])).toEqual([5_000]);
    expect(await control.exists(fence!)).toBe(0);
    await a.lock.release(request, 0);
    expect((await a.hold()).grant.fencingToken).toBeGreaterThan(grant.fencingToken!);
  },

  async 'a lease that an operator made last for ever ends again after its next extension'(world) {
    const { control } = world.redis!;
    const a = await world.client();
    const { request } = await a.hold({ ttl: TTL });
    for (const key of await control.keys('*')) await control.persist(key);
    expect(await a.extend([request])).toEqual([TTL]);
    const { remaining } = await world.snapshot();
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(TTL);
  },

  async 'what a clock that was set back has put off is shortened, and nothing else is'(world) {
    const [a, hour] = [await world.client(), 3_600_000];
    const { request } = await a.hold({ ttl: TTL });
    const other = await a.hold({ key: 'other', ttl: TTL });
    await a.extend([{ ...request, ttl: hour }, other.request]);
    const [left] = await a.extend([{ ...request, overlong: hour / 2 }, other.request]);
    expect(left).toBeGreaterThan(hour - 10 * TTL);
    const shortened = { ...request, overlong: left as number };
    expect(await a.extend([shortened, other.request])).toEqual([TTL, TTL]);
    expect(await a.extend([request, other.request])).toEqual([TTL, TTL]);
    expect(await a.extend([{ ...request, ttl: hour }, other.request])).toEqual([hour, TTL]);
  },

  async 'leases of several ttls in one batch last each its own, and only what was asked for longer than is left'(
    world,
  ) {
    const a = await world.client();
    const long = await a.hold({ key: 'long', ttl: 60_000 });
    const short = await a.hold({ key: 'short', ttl: 2_000 });
    const batch = [
      { ...long.request, ttl: 9_000 },
      { ...short.request, ttl: 8_000 },
    ];
    const [left, asked] = await a.extend(batch);
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
    expect(asked).toBe(8_000);
  },
};
