import { expect } from '@jest/globals';
import { LeaseLostError } from '../../lib/engine/errors/index.js';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { withLease } from '../../lib/nest/services/run-under-lease.js';
import { batchesBy } from '../../lib/engine/locks/batches.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { atMost, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { Gate } from '../support/gate.js';
import { later } from '../support/later.js';
import { type Wrap, withSteps } from '../support/world.js';

/** A store of which one node hangs: the one where this lock lives. */
const hangingFor =
  (key: string): Wrap =>
  (store) => {
    const hangs = (request: LockRequest | undefined): boolean => request?.key === key;
    return withSteps(store, {
      batches: (requests) => batchesBy(requests, hangs, (own) => store.batches(own)),
      extend: (requests) => (hangs(requests[0]) ? new Promise(() => {}) : store.extend(requests)),
    });
  };

export const loss: Contract = {
  async 'a node that hangs costs none of the leases on others'(world) {
    const process = await world.process({}, hangingFor('hung'));
    const ttl = TTL;
    const hung = await process.acquire({ key: 'hung', ttl });
    const beside = await Promise.all(['a', 'b', 'c'].map((key) => process.acquire({ key, ttl })));
    // Time goes on when the nodes beside have answered: on a busy machine they take longer than it.
    const renewed = async (): Promise<void> => {
      const before = beside.map(({ expiresAt }) => expiresAt);
      await world.pass(ttl / 3 + 100);
      await world.until('each of them is renewed', () =>
        beside.every(({ held, expiresAt }, at) => !held || expiresAt > before[at]!),
      );
    };
    process.clock.stall(ttl / 3); // all are due when the first timer runs
    for (let time = 0; time < 2; time += 1) await renewed();
    await world.until('its lease is lost', () => hung.signal.aborted);
    for (let time = 0; time < 4; time += 1) await renewed();
    expect(beside.map(({ held }) => held)).toEqual([true, true, true]);
  },

  async 'at its deadline a lease is lost, although no timer has run'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: TTL });
    lease.assertHeld();
    process.clock.stall(TTL);
    expect(lease.held).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LeaseLostError);
  },

  async 'after a stall the release tells that the lease was lost'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: TTL });
    process.clock.stall(TTL);
    expect(await lease.release()).toBe(false);
  },

  async 'at its deadline the signal aborts with a reason'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: TTL, renew: false });
    const from = process.clock.monotonic();
    await world.pass(TTL);
    await world.until('the signal aborts', () => lease.signal.aborted);
    expect(process.clock.monotonic() - from).toBeLessThan(atMost(world, TTL + 100));
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(lease.signal.reason).toMatchObject({ reason: 'expired', key: 'k' });
  },

  async 'a lease that another has is lost at the next renewal'(world) {
    const [process, thief] = [await world.process(), await world.client()];
    const lease = await process.acquire({ ttl: 3 * TTL });
    const from = process.clock.monotonic();
    await world.flush();
    const stolen = await thief.hold({ ttl: 9 * TTL });
    await world.pass(TTL);
    await world.until('the signal aborts', () => lease.signal.aborted);
    expect(process.clock.monotonic() - from).toBeLessThan(2 * TTL);
    expect(lease.signal.reason).toMatchObject({
      reason: world.gone === 'taken' ? 'taken' : 'gone',
    });
    expect(lease.held).toBe(false);
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
    expect(await lease.release()).toBe(false);
    expect(await world.holder()).toBe(stolen.request.holder);
  },

  async 'a lease that the server lost is lost at the next renewal, and not brought back'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: 3 * TTL });
    await world.flush();
    const from = process.clock.monotonic();
    await world.pass(TTL);
    await world.until('the signal aborts', () => lease.signal.aborted);
    expect(process.clock.monotonic() - from).toBeLessThan(2 * TTL);
    expect((await world.snapshot()).type).toBe('none');
    expect(process.locks.load).toMatchObject({ held: 0, watched: 0 });
    expect(lease.signal.reason).toMatchObject({ reason: 'gone' });
    const [, left] = /Redis had it no more.* in (\d+) ms/.exec(lease.lossError().message)!;
    expect(Number(left)).toBeGreaterThan(TTL);
    expect(Number(left)).toBeLessThan(2.1 * TTL);
  },

  async 'a lease says why it is not held: each reason has a text of its own'(world) {
    const process = await world.process();
    const why = async (end: (lease: BaseLease) => unknown): Promise<unknown> => {
      const lease = await world.finish(process.acquire({ ttl: TTL, renew: false }));
      await end(lease);
      await world.until('it is over', () => !lease.held);
      const { reason, message } = lease.lossError();
      await lease.release();
      return { reason, message };
    };
    const over = 'The lease on lock "k" is over: ';
    expect(await why((lease) => lease.release())).toEqual({
      reason: 'released',
      message: `${over}it was released before. Is an "await" missing, so that work went on after the release?`,
    });
    expect(await why(() => process.clock.stall(TTL))).toEqual({
      reason: 'expired',
      message: `${over}its time ran out before it was renewed.`,
    });
    await world.flush();
    const gone = why(async (lease) => {
      await world.flush();
      await expect(lease.extend()).rejects.toMatchObject({ reason: 'gone' });
    });
    expect(await gone).toMatchObject({
      reason: 'gone',
      message: expect.stringContaining(`${over}Redis had it no more. Its key was deleted`),
    });
    const taken = why(async (lease) => {
      await world.flush();
      await (await world.client()).hold({ ttl: 60_000 });
      await expect(lease.extend()).rejects.toThrow(LeaseLostError);
    });
    expect(await taken).toMatchObject(
      world.gone === 'taken'
        ? { reason: 'taken', message: `${over}another holder has the lock now.` }
        : { reason: 'gone' },
    );
    await (await world.client()).lock.force('k');
  },

  async 'a release that finds the lock gone says so'(world) {
    const process = await world.process();
    const work = withLease(
      process.locks.acquire('k', { ...process.settings.call, ttl: 30_000 }),
      () => world.flush(),
    );
    await expect(world.finish(work)).rejects.toMatchObject({ reason: 'gone' });
  },

  async 'a lease that an operator took is lost at once, with that reason'(world) {
    const [process, operator] = [await world.process(), await world.client()];
    const lease = await process.acquire({ ttl: 30_000 });
    const { signal } = lease;
    await operator.lock.force('k');
    await world.until('the signal aborts', () => signal.aborted);
    expect(signal.reason).toMatchObject({
      reason: 'forced',
      message: expect.stringContaining('an operator released it by force'),
    });
  },

  async 'who loses a lock to an operator while its renewal is under way is told at once'(world) {
    const [ran, told, answers] = [new Gate(), new Gate(), new Gate()];
    const slow: Wrap = (store) =>
      withSteps(store, {
        extend: async (requests) => {
          const answer = await store.extend(requests);
          ran.open();
          await answers.opened;
          return answer;
        },
        open: (listener) =>
          store.open({
            ...listener,
            forced(holder) {
              listener.forced(holder);
              told.open();
            },
          }),
      });
    const [process, operator] = [await world.process({}, slow), await world.client()];
    const { signal } = await process.acquire({ ttl: '1h' });
    await world.pass(1_200_100);
    await world.finish(ran.opened);
    await operator.lock.force('k');
    await world.finish(told.opened);
    answers.open();
    await world.until('the signal aborts', () => signal.aborted);
    expect(signal.reason).toMatchObject({ reason: 'forced' });
  },

  async 'a wall clock that ran ahead puts a lease on hold until the server confirms it'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: TTL });
    process.clock.sleep(2 * TTL);
    expect(lease.held).toBe(false);
    await world.until('the server confirms', () => lease.held);
    lease.assertHeld();
  },

  async 'a machine that slept over its lease finds it lost'(world) {
    const [process, thief] = [await world.process(), await world.client()];
    const lease = await process.acquire({ ttl: 30_000 });
    await world.flush();
    await thief.hold();
    process.clock.sleep(60_000);
    expect(lease.held).toBe(false);
    await world.until('the signal aborts', () => lease.signal.aborted);
    expect(lease.held).toBe(false);
  },

  async 'a lease that is lost while its extension is in flight is given back'(world) {
    const gate = new Gate();
    const slow: Wrap = (store) =>
      withSteps(store, { extend: (requests) => gate.after(store.extend(requests)) });
    const process = await world.process({}, slow);
    const lease = await process.acquire({ ttl: TTL });
    const extended = later(lease.extend('1h'));
    await world.until('it has run', async () => (await world.snapshot()).remaining > 2 * TTL);
    await world.pass(TTL);
    await world.until('it is lost', () => lease.signal.aborted);
    await world.until('the lock is free', async () => (await world.snapshot()).type === 'none');
    gate.open();
    await expect(extended).rejects.toThrow(LeaseLostError);
  },

  async 'a renewal after a stall resurrects nothing'(world) {
    const [process, other] = [await world.process(), await world.client()];
    const lease = await process.acquire({ ttl: TTL, renew: false });
    await world.pass(TTL);
    await world.until('the lock is free', async () => (await world.snapshot()).type === 'none');
    const { request } = await other.hold();
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
    expect(await world.holder()).toBe(request.holder);
  },

  async 'work that succeeds after its lease was lost is an error, and its own error wins'(world) {
    const process = await world.process();
    const call = { ...process.settings.call, ttl: TTL };
    const late = withLease(process.locks.acquire('k', call), () => process.clock.stall(TTL));
    await expect(world.finish(late)).rejects.toThrow(LeaseLostError);
    const own = withLease(process.locks.acquire('k2', call), () => {
      process.clock.stall(TTL);
      throw new RangeError('its own');
    });
    await expect(world.finish(own)).rejects.toThrow(RangeError);
    const ignored = withLease(
      process.locks.acquire('k3', call),
      () => {
        process.clock.stall(TTL);
        return 'kept';
      },
      'ignore',
    );
    expect(await world.finish(ignored)).toBe('kept');
  },
};

export const lossOnRedis: Contract = {};
