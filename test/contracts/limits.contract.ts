import { expect } from '@jest/globals';
import { LockLimitError } from '../../lib/engine/errors/index.js';
import { DEAD, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { noting } from '../support/noting.js';
import type { Client } from '../support/client.js';
import { type LockingProcess, type World, type Wrap, withSteps } from '../support/world.js';

/** One that holds the lock for `ttl` ms, has filled its queue and seems to be dead, and one that lives. */
async function fullOfTheDead(world: World, ttl: number): Promise<[dead: Client, living: Client]> {
  const limits = { waitersPerKey: 2 };
  const [dead, living] = [await world.client({ limits }), await world.client({ limits })];
  await dead.hold({ ttl });
  await dead.queue();
  await dead.queue();
  await world.silence(DEAD + 100);
  return [dead, living];
}

export const limits: Contract = {
  async 'a queue that is full refuses, and takes the next when one has left'(world) {
    const a = await world.client({ limits: { waitersPerKey: 2 } });
    await a.hold();
    const { request } = await a.queue();
    await a.queue();
    expect((await a.ask(a.request())).kind).toBe('full');
    expect((await a.ask(request)).kind).toBe('queued');
    expect((await world.snapshot()).waiting).toBe(2);
    await a.lock.leave(request);
    expect((await a.ask(a.request())).kind).toBe('queued');
  },

  async 'a full queue is an error of its own, at once'(world) {
    const limits = { waitersPerKey: 1 };
    const [a, b, c] = [
      await world.process({ limits }),
      await world.process({ limits }),
      await world.process({ limits }),
    ];
    const lease = await a.acquire();
    const wait = b.acquire();
    await world.waiting(1);
    await expect(c.acquire()).rejects.toThrow(LockLimitError);
    await lease.release();
    await (await world.finish(wait)).release();
    expect(c.locks.load).toMatchObject({ held: 0, waiting: 0, leaving: 0 });
  },

  async 'a queue that is full of the dead takes the next, whoever holds the lock'(world) {
    const [dead, a] = await fullOfTheDead(world, 60_000);
    const { request } = await a.queue();
    expect((await world.snapshot()).waiting).toBe(1);
    expect((await world.keys()).filter(({ ttl }) => ttl < 0)).toEqual([]);
    await dead.queue();
    await world.silence(DEAD + 100);
    await a.ask(request); // it lives
    await a.queue();
    await world.silence(DEAD + 100); // its process lives all the same: it asks
    expect((await a.ask(a.request())).kind).toBe('full');
    expect((await world.snapshot()).waiting).toBe(2);
  },

  async 'who waited through an outage keeps its place, though newcomers took it for dead in a full queue'(
    world,
  ) {
    const limits = { waitersPerKey: 2 };
    const [a, b] = [await world.client({ limits }), await world.client({ limits })];
    const { request: holder } = await a.hold({ ttl: 60_000 });
    const [first, second] = [await a.queue(), await a.queue()];
    await world.silence(DEAD + 100);
    await b.queue();
    await b.queue();
    for (const { request, entry } of [second, first]) {
      const { enqueuedAt } = entry;
      expect(await a.ask({ ...request, enqueuedAt })).toMatchObject({ kind: 'queued', enqueuedAt });
    }
    expect((await b.ask(b.request())).kind).toBe('full');
    await a.lock.release(holder, 0);
    await world.until('the first is told', () => a.granted(first.request) !== undefined);
  },

  async 'a queue that is full of the dead takes the next when nobody holds the lock'(world) {
    const [, a] = await fullOfTheDead(world, 500);
    await world.until('it is free', async () => (await world.snapshot()).type === 'none');
    expect((await a.ask(a.request())).kind).toBe('held');
  },

  async 'a process holds and waits for so many locks and no more'(world) {
    const a = await world.process({ limits: { leases: 2, waitersPerProcess: 1 } });
    const first = await a.acquire({ key: 'one' });
    const wait = a.acquire({ key: 'one' });
    await world.waiting(1, 'one');
    await expect(a.acquire({ key: 'free' })).rejects.toThrow('waitersPerProcess');
    await first.release();
    await world.finish(wait);
    await a.acquire({ key: 'two' });
    await expect(a.acquire({ key: 'three' })).rejects.toThrow('limit "leases" of 2');
  },

  async 'a process holds so many locks and no more, however many it asks for at once'(world) {
    const a = await world.process({ limits: { leases: 3 } });
    const keys = Array.from({ length: 30 }, (_, at) => `${at}`);
    const calls = await world.finish(Promise.allSettled(keys.map((key) => a.acquire({ key }))));
    const refused = keys.filter((_, at) => calls[at]!.status === 'rejected');
    expect([refused.length, a.locks.load.held]).toEqual([27, 3]);
    for (const call of calls) {
      if (call.status === 'rejected') expect(call.reason).toBeInstanceOf(LockLimitError);
      else expect(await call.value.release()).toBe(true);
    }
    await world.until('what was refused is free', async () => {
      const snapshots = await Promise.all(refused.map((key) => world.snapshot(key)));
      return snapshots.every(({ type }) => type === 'none');
    });
    await (await a.acquire({ key: refused[0]! })).release();
  },

  async 'of calls made at once so many ask as may wait, and the others are refused without the store'(
    world,
  ) {
    const asked: string[] = [];
    const a = await world.process({ limits: { waitersPerProcess: 10 } }, noting(asked));
    const keys = Array.from({ length: 30 }, (_, at) => `${at}`);
    const calls = await world.finish(Promise.allSettled(keys.map((key) => a.acquire({ key }))));
    expect(calls.filter(({ status }) => status === 'fulfilled').length).toBe(10);
    expect(asked.filter((step) => step === 'acquire').length).toBe(10);
  },

  async 'whose turn comes when its process holds as many as it may is refused, and the next has it'(
    world,
  ) {
    const [a, b] = [await world.process({ limits: { leases: 1 } }), await world.process()];
    const first = await b.acquire();
    const calls = [later(a.acquire()), later(a.acquire())];
    await world.waiting(world.entriesOf(2));
    const next = b.acquire();
    await world.waiting(world.entriesOf(2) + 1);
    const other = await a.acquire({ key: 'other' });
    await first.release();
    await expect(world.finish(calls[0]!)).rejects.toThrow('limit "leases" of 1');
    if (world.fairness === 'local') await world.finish(next).then((lease) => lease.release());
    await expect(world.finish(calls[1]!)).rejects.toThrow('limit "leases" of 1');
    expect(other.held).toBe(true);
    await other.release();
    await (await world.finish(next)).release();
    await (await world.finish(a.acquire())).release();
  },

  async 'a critical section costs two commands at most, however many wait'(world) {
    const sent: string[] = [];
    let undated = 0; // a push that came while its process did not run is asked about
    const counting: Wrap = (store, clock) =>
      withSteps(noting(sent)(store, clock), {
        open: (listener) =>
          store.open({
            ...listener,
            granted(request, grant) {
              if (!grant) undated += 1;
              listener.granted(request, grant);
            },
          }),
      });
    const processes = await Promise.all(
      [1, 2].map(() => world.process({ fairness: 'strict' }, counting)),
    );
    const caller = async (process: LockingProcess): Promise<void> => {
      for (let round = 0; round < 10; round += 1) await (await process.acquire()).release();
    };
    const callers = processes.flatMap((process) => Array.from({ length: 10 }, () => process));
    const from = world.clock.monotonic();
    await world.finish(Promise.all(callers.map(caller)));
    const polls = ((world.clock.monotonic() - from) / 700 + 1) * processes.length;
    const overtaken = polls; // each may find a grant whose push comes later, when the lock is given back: that is left once more
    const steps = sent.filter((step) => step !== 'extend'); // who is handed the lock renews it after a second
    expect(steps.length).toBeGreaterThanOrEqual(200); // each of the 200 has asked
    expect(steps.length).toBeLessThanOrEqual(400 + polls + overtaken + undated);
  },

  async 'one call renews all leases of a process that are due together'(world) {
    const batches: number[] = [];
    const process = await world.process({}, (store) =>
      withSteps(store, {
        extend: (requests) => {
          batches.push(requests.length);
          return store.extend(requests);
        },
      }),
    );
    const keys = Array.from({ length: 50 }, (_, at) => `{k}${at}`); // in a Cluster a call is for one slot
    const leases = await Promise.all(keys.map((key) => process.acquire({ key, ttl: TTL })));
    await world.pass(TTL / 3 + 100);
    await world.until('all are renewed', () => {
      return batches.reduce((sum, each) => sum + each, 0) >= keys.length;
    });
    expect(leases.every((lease) => lease.held)).toBe(true);
    expect(batches.length).toBeLessThan(50);
    expect(Math.max(...batches)).toBeGreaterThan(1);
  },
};

export const limitsOnRedis: Contract = {
  async 'a process has two connections and one subscription, however much it waits'(world) {
    const { control } = world.redis!;
    const connections = async (): Promise<number> =>
      String(await control.call('CLIENT', 'LIST'))
        .trim()
        .split('\n').length;
    const [before, a] = [await connections(), await world.process({ fairness: 'strict' })];
    const first = await a.acquire();
    const waits = Array.from({ length: 20 }, () => a.acquire().then((lease) => lease.release()));
    await world.until('the server knows them', async () => {
      const [queue] = await control.keys('*:queue');
      return queue !== undefined && (await control.zcard(queue)) === 20;
    });
    expect((await connections()) - before).toBe(2);
    expect(await control.pubsub('CHANNELS')).toHaveLength(1);
    await first.release();
    await Promise.all(waits);
  },
};
