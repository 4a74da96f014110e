import { expect } from '@jest/globals';
import {
  LeaseLostError,
  LockLimitError,
  LockNotAcquiredError,
  LockOptionsError,
  LockStoreError,
} from '../../lib/engine/errors/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { type AcquireOptions, callSettings } from '../../lib/engine/options/index.js';
import { atMost, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { Heard } from '../support/heard.js';
import { later } from '../support/later.js';
import { random } from '../support/random.js';
import { type LockingProcess, type Wrap, withSteps } from '../support/world.js';

/** Several locks at once; `keys` sorted, as the service gives them. */
function acquire(
  process: LockingProcess,
  keys: readonly string[],
  { signal, ...options }: AcquireOptions = {},
): Promise<Lease> {
  return process.locks.acquire(keys, callSettings(options, process.settings.call), signal);
}

export const manyKeys: Contract = {
  async 'one lease holds all of them, and gives all of them back'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const lease = await acquire(a, ['x', 'y', 'z']);
    expect([lease.key, lease.keys, lease.held]).toEqual(['x, y, z', ['x', 'y', 'z'], true]);
    for (const key of ['x', 'y', 'z']) expect((await b.try(b.request({ key }))).kind).toBe('busy');
    const tokens = lease.keys.map((key) => lease.fencingTokenOf(key));
    expect(tokens.every(Number.isSafeInteger)).toBe(true);
    expect(() => lease.fencingToken).toThrow(LockOptionsError);
    expect(() => lease.fencingTokenOf('w')).toThrow(LockOptionsError);
    await lease.extend('9s');
    expect((await world.snapshot('y')).remaining).toBeGreaterThan(8_000);
    expect(await lease.release()).toBe(true);
    expect(lease.held).toBe(false);
    for (const key of ['x', 'y', 'z']) expect((await world.snapshot(key)).type).toBe('none');
  },

  async 'when all are free they are asked for at once'(world) {
    let underWay = 0;
    let most = 0;
    const counting: Wrap = (store) =>
      withSteps(store, {
        async acquire(ask) {
          most = Math.max(most, (underWay += 1));
          const answer = await store.acquire(ask);
          underWay -= 1;
          return answer;
        },
      });
    const a = await world.process({}, counting);
    await (await acquire(a, ['x', 'y', 'z'])).release();
    expect(most).toBe(3);
  },

  async 'who cannot have all has none'(world) {
    const [a, b] = [await world.process(), await world.client()];
    await b.hold({ key: 'y' });
    await expect(world.finish(acquire(a, ['x', 'y', 'z'], { wait: 0 }))).rejects.toThrow(
      LockNotAcquiredError,
    );
    const from = world.clock.monotonic();
    const error: unknown = await world
      .finish(acquire(a, ['x', 'y', 'z'], { wait: 200 }))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockNotAcquiredError);
    const { message, waited, key } = error as LockNotAcquiredError;
    expect([key, message]).toEqual(['y', expect.stringContaining('within 200 ms: others')]);
    expect(Number.isInteger(waited)).toBe(true);
    expect(waited).toBeGreaterThanOrEqual(199);
    expect(waited).toBeLessThanOrEqual(world.clock.monotonic() - from + 1);
    for (const key of ['x', 'z']) {
      await world.until(`${key} is free`, async () => (await world.snapshot(key)).type === 'none');
    }
    expect((await world.snapshot('y')).waiting).toBe(0);
  },

  async 'who cannot have all keeps none for a minimum hold'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const { request } = await b.hold({ key: 'y' });
    const free = async (): Promise<void> => {
      for (const key of ['x', 'z']) expect((await world.snapshot(key)).type).toBe('none');
    };
    const minHold = '20s';
    const once = acquire(a, ['x', 'y', 'z'], { wait: 0, minHold });
    await expect(world.finish(once)).rejects.toThrow(LockNotAcquiredError);
    await free();
    const controller = new AbortController();
    const aborted = later(acquire(a, ['x', 'y', 'z'], { minHold, signal: controller.signal }));
    await world.waiting(1, 'y');
    controller.abort(new RangeError('enough'));
    await expect(world.finish(aborted)).rejects.toThrow('enough');
    await free();
    const waiting = acquire(a, ['x', 'y', 'z'], { minHold }); // its own mark would be in its way
    await world.waiting(1, 'y');
    await b.lock.release(request, 0);
    const lease = await world.finish(waiting);
    expect(await lease.release()).toBe(true);
    expect((await world.snapshot('z')).remaining).toBeGreaterThan(15_000);
  },

  async 'a limit or a fault on the way keeps none for a minimum hold either'(world) {
    const [few, b] = [await world.process({ limits: { leases: 1 } }), await world.client()];
    const { request } = await b.hold({ key: 'y' });
    const limited = acquire(few, ['x', 'y', 'z'], { minHold: '20s' });
    await expect(world.finish(limited)).rejects.toThrow(LockLimitError);
    await b.lock.release(request, 0);
    const broken: Wrap = (store) =>
      withSteps(store, {
        async acquire(ask) {
          if (ask.key === 'y') throw new LockStoreError('Trouble.', { outcome: 'refused' });
          return store.acquire(ask);
        },
      });
    const a = await world.process({ commandTimeout: 100 }, broken);
    await expect(world.finish(acquire(a, ['x', 'y', 'z'], { minHold: '20s' }))).rejects.toThrow(
      'Trouble',
    );
    for (const key of ['x', 'y', 'z']) {
      await world.until(`${key} is free`, async () => (await world.snapshot(key)).type === 'none');
    }
  },

  async 'what was used inside stays for its minimum hold, though a part was not'(world) {
    const [a, b] = [await world.process(), await world.client()];
    await b.hold({ key: 'y' });
    const outer = await a.acquire({ key: 'x', minHold: '20s' });
    await outer.run(async () => {
      const both = acquire(a, ['x', 'y'], { minHold: '20s' });
      const failed = later(both);
      await world.waiting(1, 'y');
      await outer.release(); // the part that waits is the last to give it back
      a.locks.stopWaiting();
      await expect(world.finish(failed)).rejects.toThrow('shut');
    });
    await world.until('it is kept', async () =>
      (await world.snapshot('x')).holder.endsWith('kept'),
    );
    expect((await world.snapshot('x')).remaining).toBeGreaterThan(15_000);
  },

  async 'who waits for one holds those before it, and none behind it'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const { request } = await b.hold({ key: 'y' });
    const wait = acquire(a, ['x', 'y', 'z']);
    await world.waiting(1, 'y');
    expect([(await world.snapshot('x')).type, (await world.snapshot('z')).type]).toEqual([
      'string',
      'none',
    ]);
    await b.lock.release(request, 0);
    const lease = await world.finish(wait);
    expect(lease.held).toBe(true);
    await lease.release();
  },

  async 'an abort, and a foreign value, give everything back'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const { request } = await b.hold({ key: 'y' });
    const controller = new AbortController();
    const wait = acquire(a, ['x', 'y'], { signal: controller.signal });
    await world.waiting(1, 'y');
    controller.abort(new RangeError('enough'));
    await expect(wait).rejects.toThrow('enough');
    await world.plant('f', 'hash');
    await expect(acquire(a, ['e', 'f', 'g'])).rejects.toThrow('hash');
    for (const key of ['x', 'e', 'g']) {
      await world.until(`${key} is free`, async () => (await world.snapshot(key)).type === 'none');
    }
    await b.lock.release(request, 0);
    await world.until('nobody waits', async () => (await world.snapshot('y')).type === 'none');
  },

  async 'what is lost while the call waits for another is asked for again, at once'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const { request } = await b.hold({ key: 'y' });
    const wait = later(acquire(a, ['x', 'y', 'z'], { wait: Infinity }));
    await world.waiting(1, 'y');
    const first = await world.holder('x');
    await b.lock.force('x');
    await world.until('it is held again', async () => {
      const { holder } = await world.snapshot('x');
      return holder !== '' && holder !== first;
    });
    await world.waiting(1, 'y'); // that is not free yet
    await b.lock.release(request, 0);
    const lease = await world.finish(wait);
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  },

  async 'who takes what the call held meanwhile is waited for within its wait, and no longer'(
    world,
  ) {
    const [a, b] = [await world.process(), await world.process()];
    const { locks } = b;
    await b.acquire({ key: 'y' });
    const from = a.clock.monotonic();
    const wait = later(acquire(a, ['x', 'y'], { wait: 20_000 }));
    await world.waiting(1, 'y');
    const rival = b.acquire({ key: 'x', wait: Infinity });
    await world.waiting(1, 'x');
    await locks.force('x');
    await world.finish(rival);
    await world.waiting(1, 'x');
    await world.waiting(0, 'y');
    const busy = { code: 'LOCK_NOT_ACQUIRED', key: 'x' };
    await world.pass(20_000);
    await expect(world.finish(wait)).rejects.toMatchObject(busy);
    expect(a.clock.monotonic() - from).toBeGreaterThanOrEqual(19_999);
    expect(a.locks.load).toMatchObject({ held: 0, waiting: 0 });
  },

  async 'what counts from the grant counts from that of the last lock'(world) {
    const cases: AcquireOptions[] = [
      { ttl: TTL, renew: false },
      { ttl: TTL, maxHold: TTL },
      { ttl: TTL, minHold: TTL },
    ];
    for (const options of cases) {
      const [a, b] = [await world.process(), await world.process()];
      const other = await b.acquire({ key: 'y' });
      const wait = acquire(a, ['x', 'y', 'z'], { ...options, wait: Infinity });
      await world.waiting(1, 'y');
      for (let third = 0; third < 5; third += 1) {
        const before = a.answered.renewals;
        await world.pass(TTL / 3 + 100);
        await world.until('what is held is renewed', () => a.answered.renewals > before);
      }
      await other.release();
      const lease = await world.finish(wait);
      const from = a.clock.monotonic();
      if (options.minHold) {
        expect(await lease.release()).toBe(true);
        expect((await world.snapshot('x')).remaining).toBeGreaterThan(TTL / 2);
        await world.outlive(TTL);
        continue;
      }
      await world.until('the lease is over', async () => {
        await world.pass(1_000);
        return lease.signal.aborted;
      });
      expect(a.clock.monotonic() - from).toBeGreaterThan(0.9 * TTL);
      expect(a.clock.monotonic() - from).toBeLessThan(atMost(world, 2 * TTL + 500));
      expect(await lease.release()).toBe(false);
      await world.until('all is free', async () => (await world.snapshot('z')).type === 'none');
    }
  },

  async 'a lock that is lost loses the lease, and its signal says so'(world) {
    const [a, b] = [await world.process({ ttl: TTL }), await world.client()];
    const lease = await acquire(a, ['x', 'y']);
    const { signal } = lease;
    await b.lock.force('y');
    await world.until('it is told', () => signal.aborted);
    expect(signal.reason).toBeInstanceOf(LeaseLostError);
    expect(lease.held).toBe(false);
    expect(() => lease.assertHeld()).toThrow('"y"');
    expect(await lease.release()).toBe(false);
    expect((await world.snapshot('x')).type).toBe('none');
    expect(() => lease.assertHeld()).toThrow(signal.reason as LeaseLostError); // it still names that one
  },

  async 'a call for several locks tells what it holds when it holds them all, and nothing before'(
    world,
  ) {
    const [rival, process] = [await world.process(), await world.process()];
    const other = await rival.acquire({ key: 'b' });
    using heard = new Heard();
    const keys = ['a', 'b', 'c'];
    const once = acquire(process, keys, { wait: 0 });
    await expect(world.finish(once)).rejects.toThrow(LockNotAcquiredError);
    expect([heard.events, heard.holds]).toEqual([['timedOut'], []]);
    const asked = acquire(process, keys);
    await world.waiting(1, 'b');
    await process.locks.force('a');
    await world.until('it asked again', async () => (await world.holder('a')) !== '');
    await world.waiting(1, 'b');
    await other.release();
    const lease = await world.finish(asked);
    await lease.release();
    const ours = heard.holds.filter(({ acquire }) => acquire?.key === 'a, b, c');
    expect(ours.map(({ key, end }) => [key, end])).toEqual(keys.map((key) => [key, 'released']));
    const others = heard.told.filter(({ about }) => !('key' in about) || about.key !== 'b');
    expect(others.map(({ event }) => event)).toEqual(
      ['timedOut', 'acquired', 'released', 'released'], // and that of "b"
    );
    expect(heard.unbalanced).toEqual([]);
  },

  async 'who waits for a sibling, and then for a stranger, makes one call, and waits no longer than it may'(
    world,
  ) {
    const [process, stranger] = [await world.process(), await world.process()];
    const call = callSettings({ wait: 1_000 }, process.settings.call);
    const outer = await process.locks.acquire(['x', 'y'], call);
    await outer.run(async () => {
      const sibling = await process.locks.acquire(['x', 'y'], call);
      using heard = new Heard();
      const from = process.clock.monotonic();
      const wait = later(process.locks.acquire(['x', 'y'], call));
      const rival = later(stranger.locks.acquire('y', { ...call, wait: Infinity }));
      await world.waiting(1, 'y');
      await world.pass(600);
      await outer.release();
      await sibling.release();
      await world.finish(rival);
      await world.waiting(1, 'y');
      await world.pass(500);
      await expect(world.finish(wait)).rejects.toMatchObject({ code: 'LOCK_NOT_ACQUIRED' });
      expect(process.clock.monotonic() - from).toBeLessThan(atMost(world, 1_200));
      expect(heard.of('timedOut')).toMatchObject([{ key: 'x, y' }]);
    });
  },

  async 'each of them can be taken again inside'(world) {
    const a = await world.process();
    const lease = await acquire(a, ['x', 'y']);
    await world.finish(
      lease.run(async () => {
        const both = await acquire(a, ['x', 'y'], { wait: 0 });
        await both.release();
        const one = await acquire(a, ['y', 'z'], { wait: 0 });
        expect(one.fencingTokenOf('y')).toBe(lease.fencingTokenOf('y'));
        expect(a.locks.current('x')).toBeDefined();
        await one.release();
      }),
    );
    expect(lease.held).toBe(true);
    await lease.release();
  },

  async 'callers who want the same locks never wait for each other for ever'(world) {
    const chance = random(3);
    const processes = [await world.process(), await world.process(), await world.process()];
    const balance: Record<string, number> = { a: 100, b: 100, c: 100, d: 100 };
    const accounts = Object.keys(balance);
    const transfer = async (process: LockingProcess): Promise<void> => {
      for (let turn = 0; turn < 10; turn += 1) {
        const from = accounts[Math.floor(chance() * 4)]!;
        const to = accounts[Math.floor(chance() * 4)]!;
        if (from === to) continue;
        const lease = await acquire(process, [from, to].sort());
        const before = [balance[from]!, balance[to]!] as const;
        await world.elapse(1);
        balance[from] = before[0] - 1;
        balance[to] = before[1] + 1;
        await lease.release();
      }
    };
    await world.finish(
      Promise.all(processes.flatMap((process) => [1, 2, 3, 4].map(() => transfer(process)))),
    );
    expect(Object.values(balance).reduce((sum, each) => sum + each, 0)).toBe(400);
    for (const { locks } of processes) {
      expect(locks.load).toMatchObject({ held: 0, waiting: 0, watched: 0 });
    }
  },
};
