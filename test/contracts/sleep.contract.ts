import { expect } from '@jest/globals';
import {
  LeaseLostError,
  LockNotAcquiredError,
  LockUpgradeError,
  QuorumNotReachedError,
} from '../../lib/engine/errors/index.js';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { Election, electionSettings } from '../../lib/nest/services/election.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { slumber } from '../support/slumber.js';
import type { LockingProcess, World } from '../support/world.js';
import { AnswerOnTheWay } from './answer-on-the-way.js';

/** Longer than any lease here, in ms. */
const NIGHT = 60_000;
/** What leases here last, in ms: nothing is renewed by itself within a test. */
const TTL = 30_000;

/** Where a lock is held alone, on a server that knows hand-over and conditions. */
export const sleepAlone: Contract = {
  async 'a restored lease whose answer a sleep held up is held by nobody here'(world) {
    const answer = new AnswerOnTheWay();
    const [giver, process] = [
      await world.process(),
      await world.process({}, answer.on('transfer')),
    ];
    const given = await giver.acquire({ ttl: TTL });
    const handOver = readHandOver(await given.handOver());
    answer.holdNext();
    const restored = process.locks.restore(handOver);
    await world.finish(answer.came);
    await nightOf(process, world);
    answer.deliver();
    await expect(world.finish(restored)).rejects.toMatchObject({ reason: 'taken' });
  },

  async 'a restored lease whose answer a sleep held up goes on where the server says so'(world) {
    const answer = new AnswerOnTheWay();
    const [giver, process] = [
      await world.process(),
      await world.process({}, answer.on('transfer')),
    ];
    const given = await giver.acquire({ ttl: TTL });
    const { fencingToken } = given;
    const handOver = readHandOver(await given.handOver());
    answer.holdNext();
    const restored = process.locks.restore(handOver);
    await world.finish(answer.came);
    process.clock.sleep(NIGHT);
    answer.deliver();
    expect(await world.finish(restored)).toMatchObject({ held: true, fencingToken });
  },

  async 'who awaited a condition and slept over the answer wakes when the lock is free'(world) {
    const answer = new AnswerOnTheWay();
    const process = await world.process({}, answer.on('acquire'));
    const lease = (await process.acquire({ ttl: TTL })) as SingleLease;
    const condition = new Condition(process.locks.conditions, lease, 'met');
    let woken = false;
    const waiting = condition.await({ wait: 2_000 }).then(() => (woken = true));
    await world.until('it awaits', async () => (await world.snapshot()).awaiting === 1);
    answer.holdNext(); // the grant, when its time is over
    await world.pass(2_000);
    await world.finish(answer.came);
    await nightOf(process, world);
    answer.deliver();
    await world.waiting(1);
    expect([woken, lease.held]).toEqual([false, false]);
    await (await world.client()).lock.force('k');
    await world.finish(waiting);
    expect(lease.held).toBe(true);
  },

  async 'a lease is passed on to no other caller after a sleep'(world) {
    const process = await world.process({}, slumber); // what an ask on its way is answered, it hears when it is awake
    const lease = await process.acquire({ ttl: TTL });
    let passedOn = false;
    const next = process.acquire({ ttl: TTL }).then((successor) => {
      passedOn = true;
      return successor;
    });
    await world.until('the next one waits', () => process.locks.load.waiting === 1);
    await nightOf(process, world);
    expect(await world.finish(lease.release())).toBe(false);
    await world.waiting(1);
    expect(passedOn).toBe(false);
    await (await world.client()).lock.force('k');
    expect((await world.finish(next)).held).toBe(true);
  },

  async 'a leader whose clock was set leads on when it campaigns, and does not queue behind itself'(
    world,
  ) {
    const process = await world.process();
    const settings = electionSettings('k', { ttl: TTL }, process.settings.call);
    const election = new Election(process.locks, 'k', settings);
    const lease = await world.finish(election.campaign());
    for (const hours of [-1, 1]) {
      process.clock.sleep(hours * 3_600_000);
      expect(await world.finish(election.campaign())).toBe(lease);
    }
    expect(await election.resign()).toBe(true);
  },

  async 'a lease on several locks is held again after one look when its clock was set'(world) {
    const process = await world.process();
    const lease = await process.acquire({ key: ['x', 'y', 'z'], ttl: TTL, renew: false });
    process.clock.sleep(-3_600_000);
    expect(lease.held).toBe(false);
    await world.until('all are confirmed', () => process.answered.renewals === 3);
    expect(lease.held).toBe(true);
    await lease.release();
  },

  async 'who enters its lock again after its clock was set, or leaves it, hears what the server says'(
    world,
  ) {
    const process = await world.process();
    for (const hours of [-1, 1]) {
      const outer = await process.acquire({ ttl: TTL, renew: false });
      await outer.run(async () => {
        process.clock.sleep(hours * 3_600_000);
        const inner = await world.finish(process.acquire());
        expect(inner.held).toBe(true);
        process.clock.sleep(hours * 3_600_000);
        await world.finish(inner.finish());
      });
      expect(outer.held).toBe(true);
      await outer.finish();
    }
    const reader = await process.acquire({ ttl: TTL, renew: false, mode: 'shared' });
    await reader.run(async () => {
      process.clock.sleep(NIGHT);
      await expect(world.finish(process.acquire())).rejects.toThrow(LockUpgradeError);
    });
    expect(await reader.release()).toBe(true);
    const outer = await process.acquire({ ttl: TTL, renew: false });
    await outer.run(async () => {
      const inner = await process.acquire();
      await nightOf(process, world);
      expect(await world.finish(inner.release())).toBe(false);
      const lost = { code: 'LEASE_LOST', reason: 'taken' };
      await expect(world.finish(process.acquire())).rejects.toMatchObject(lost);
    });
  },

  async 'who enters its lock again after its clock was set, and gives up before the server answers, is inside no more'(
    world,
  ) {
    const answer = new AnswerOnTheWay();
    const process = await world.process({}, answer.on('extend'));
    const controller = new AbortController();
    const outer = await process.acquire({ ttl: TTL, renew: false });
    await outer.run(async () => {
      process.clock.sleep(3_600_000);
      answer.holdNext();
      const inner = later(process.acquire({ signal: controller.signal }));
      await world.finish(answer.came);
      controller.abort(new RangeError('enough'));
      answer.deliver();
      await expect(world.finish(inner)).rejects.toThrow('enough');
      expect(await world.finish(process.acquire())).toMatchObject({ held: true });
    });
  },
};

export const sleep: Contract = {
  async 'a grant whose answer a sleep held up makes nobody a holder'(world) {
    const answer = new AnswerOnTheWay();
    const process = await world.process({}, answer.on('acquire'));
    answer.holdNext();
    const acquired = process.acquire({ ttl: TTL, renew: false, wait: 0 });
    await world.finish(answer.came);
    await nightOf(process, world);
    answer.deliver();
    await expect(world.finish(acquired)).rejects.toThrow(LockNotAcquiredError);
  },

  async 'a grant whose answer a sleep held up is a lease where the server says so'(world) {
    const answer = new AnswerOnTheWay();
    const process = await world.process({}, answer.on('acquire'));
    answer.holdNext();
    const acquired = process.acquire({ ttl: TTL });
    await world.finish(answer.came);
    process.clock.sleep(NIGHT);
    answer.deliver();
    const lease = await world.finish(acquired);
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  },

  async 'a renewal whose answer a sleep held up keeps nothing'(world) {
    const answer = new AnswerOnTheWay();
    const process = await world.process({}, answer.on('extend'));
    const lease = await process.acquire({ ttl: TTL });
    answer.holdNext();
    await world.pass(TTL / 3 + 100);
    await world.finish(answer.came);
    await nightOf(process, world);
    answer.deliver();
    expect(lease.held).toBe(false);
    await world.until('the answer is read', () => {
      expect(lease.held).toBe(false);
      return lease.signal.aborted;
    });
  },

  async 'an extension whose answer a sleep held up is none'(world) {
    const answer = new AnswerOnTheWay();
    const process = await world.process({}, answer.on('extend'));
    const lease = await process.acquire({ ttl: TTL, renew: false });
    answer.holdNext();
    const extended = lease.extend(2 * TTL);
    await world.finish(answer.came);
    await nightOf(process, world);
    answer.deliver();
    await expect(world.finish(extended)).rejects.toThrow(LeaseLostError);
    expect(lease.held).toBe(false);
  },

  async 'a lease that is not renewed is not held at the first look after a sleep'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: 5_000, renew: false }); // a quorum that forgot all says nothing until it ends
    await nightOf(process, world);
    expect(lease.held).toBe(false);
    await world.until('the loss is told', () => lease.signal.aborted);
    expect(await lease.release()).toBe(false);
  },

  async 'a question whether a lease lasts that is not renewed makes it no longer'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: TTL, renew: false });
    const lasts = async (): Promise<number> => (await world.snapshot()).remaining;
    const end = (await lasts()) + world.clock.monotonic();
    await world.elapse(1_000);
    for (const hours of [-1, 1]) {
      process.clock.sleep(hours * 3_600_000);
      expect(lease.held).toBe(false);
      await world.until('the server confirms it', () => lease.held);
    }
    expect((await lasts()) + world.clock.monotonic()).toBeLessThan(end + 600); // else 1,000 more
    expect(await lease.release()).toBe(true);
  },

  async 'a sleep that a wall clock set back hides is found'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: TTL, renew: false });
    process.clock.sleep(-2 * NIGHT);
    await nightOf(process, world);
    expect(lease.held).toBe(false);
    await world.until('the loss is told', () => lease.signal.aborted);
  },

  async 'a wall clock that is set back or ahead costs no lease'(world) {
    const process = await world.process();
    for (const hours of [-1, 1]) {
      const lease = await process.acquire({ ttl: TTL, renew: false });
      const { signal } = lease;
      process.clock.sleep(hours * 3_600_000);
      expect(lease.held).toBe(false);
      await world.until('the server confirms it', () => lease.held);
      expect(signal.aborted).toBe(false);
      process.clock.sleep(hours * 3_600_000);
      await lease.finish(); // says what the server says: it was held to its end
      expect((await world.snapshot()).type).toBe('none');
    }
  },
};

/** The machine of a process sleeps over its lease, and another takes the lock meanwhile. */
async function nightOf(process: LockingProcess, world: World, key = 'k'): Promise<void> {
  const thief = await world.client();
  process.clock.fallAsleep(); // so that no poll of its own takes the free lock before the thief
  const stolen = thief.request({ key, ttl: 10 * NIGHT });
  await world.until('the thief has the lock', async () => {
    await world.flush(); // once more where an ask that had left before the sleep took the free lock
    const answer = await thief.try(stolen).catch((error: unknown) => {
      if (!(error instanceof QuorumNotReachedError)) throw error;
    });
    return answer?.kind === 'held';
  });
  process.clock.sleep(NIGHT);
  process.clock.wake();
}
