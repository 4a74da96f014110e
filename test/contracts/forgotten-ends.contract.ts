import { expect } from '@jest/globals';
import { Cluster, type Redis } from 'ioredis';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import type { Contract } from '../support/contract.js';
import { Gate } from '../support/gate.js';
import { later } from '../support/later.js';
import { type LockingProcess, withSteps, type World } from '../support/world.js';
import { awaiting, condition } from './conditions.contract.js';
import { restore } from './hand-over.contract.js';

/** A replica that is promoted may not have heard who left the queue, or had a turn: entries are put back as they were. */
export const forgottenEnds: Contract = {
  'who gave up': (world) => givingUp(world),

  async 'who gave up while Redis refused to hear so'(world) {
    let refusals = 0;
    const a = await world.process();
    const b = await world.process({}, (store) =>
      withSteps(store, {
        async leave(...left) {
          if (refusals > 0) return store.leave(...left);
          refusals += 1;
          throw new LockStoreError('No right.', { outcome: 'refused', retryable: false });
        },
      }),
    );
    const lease = await a.acquire();
    const caller = new AbortController();
    const givenUp = later(b.acquire({ signal: caller.signal }));
    await world.waiting(1);
    caller.abort();
    await expect(givenUp).rejects.toBe(caller.signal.reason);
    await world.until('Redis has refused', () => refusals === 1);
    await nextAtOnce(world, lease, b);
  },

  async 'who gave up before its place in the queue was known'(world) {
    const answer = new Gate();
    const a = await world.process();
    const b = await world.process({}, (store) =>
      withSteps(store, { acquire: (ask) => answer.after(store.acquire(ask)) }),
    );
    const lease = await a.acquire();
    const caller = new AbortController();
    const givenUp = later(b.acquire({ signal: caller.signal }));
    await world.waiting(1);
    const forgotten = await entries(world);
    caller.abort();
    await expect(givenUp).rejects.toBe(caller.signal.reason);
    answer.open();
    await world.until('it is given up', () => b.locks.load.leaving === 0);
    await nextAtOnce(world, lease, b, forgotten);
  },

  async 'who released'(world) {
    const { a, b, lease, forgotten } = await turn(world);
    await lease.release();
    await nextAtOnce(world, await a.acquire(), b, forgotten);
  },

  async 'who was served behind another of its process'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const before = await a.acquire();
    const served = [1, 2].map(() => later(b.acquire().then((lease) => lease.release())));
    await world.waiting(world.entriesOf(2));
    const forgotten = await entries(world);
    await before.release();
    expect(await world.finish(Promise.all(served))).toEqual([true, true]);
    await nextAtOnce(world, await a.acquire(), b, forgotten);
  },

  async 'who was served before another that stays'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const before = await a.acquire();
    const served = [1, 2].map(() => later(b.acquire().then((lease) => lease.release())));
    const stays = later(b.acquire());
    await world.waiting(world.entriesOf(3));
    const behind = (await entries(world)).slice(0, -2); // of one who holds the lock no server has an entry
    await before.release();
    await world.finish(Promise.all(served));
    const lease = await world.finish(stays);
    await world.waiting(0);
    await world.until('all are given up', () => b.locks.load.leaving === 0);
    await nextAtOnce(world, lease, b, behind);
  },
};

/** Of a lock without permits. */
export const forgottenEndsOfOne: Contract = {
  'who gave up to read': (world) => givingUp(world, 'shared'),

  async 'who handed over'(world) {
    const { a, b, lease, forgotten } = await turn(world);
    await (await restore(a, await lease.handOver())).release();
    await nextAtOnce(world, await a.acquire(), b, forgotten);
  },

  async 'who was signalled'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const { lease, woken } = await awaiting(world, b);
    const teller = await a.acquire();
    expect(await condition(a, teller).signal()).toBe(true);
    const forgotten = await entries(world);
    await teller.release();
    expect(await world.finish(woken)).toBe(true);
    await lease.release();
    await nextAtOnce(world, await a.acquire(), b, forgotten);
  },

  async 'who awaits a condition'(world) {
    const { a, b, lease, forgotten } = await turn(world);
    await condition(b, lease).await({ wait: 0 });
    await lease.release();
    await nextAtOnce(world, await a.acquire(), b, forgotten);
  },
};

async function givingUp(world: World, mode?: 'shared'): Promise<void> {
  const [a, b] = [await world.process(), await world.process()];
  const lease = await a.acquire();
  const caller = new AbortController();
  const givenUp = later(b.acquire({ mode, signal: caller.signal }));
  await world.waiting(1);
  const forgotten = await entries(world);
  caller.abort();
  await expect(givenUp).rejects.toBe(caller.signal.reason);
  await world.waiting(0);
  await nextAtOnce(world, lease, b, forgotten);
}

/** A process waits for the lock of another and has it: with its entry, as it stood in the queue. */
async function turn(world: World) {
  const [a, b] = [await world.process(), await world.process()];
  const before = await a.acquire();
  const served = later(b.acquire());
  await world.waiting(1);
  const forgotten = await entries(world);
  await before.release();
  return { a, b, lease: await served, forgotten };
}

/** What is in the queue, each entry behind its place. */
async function entries({ redis }: World): Promise<string[]> {
  return (await redis!.control.zrange(queueOf(redis!), 0, '-1', 'WITHSCORES')).reverse();
}

/** What was `forgotten` is in the queue again, and its process gets the lock after `lease` before any first lease is over. */
async function nextAtOnce(
  world: World,
  lease: BaseLease,
  process: LockingProcess,
  forgotten: readonly string[] = [],
): Promise<void> {
  const { control } = world.redis!;
  if (forgotten.length > 0) await control.zadd(queueOf(world.redis!), ...forgotten);
  const { waiting } = await world.snapshot();
  const next = later(process.acquire());
  await world.waiting(waiting + 1);
  const before = await expired(control);
  await lease.release();
  const successor = await world.finish(next);
  expect(await expired(control)).toBe(before);
  expect(await successor.release()).toBe(true);
  expect(await world.snapshot()).toMatchObject({ holder: '', waiting: 0 });
}

function queueOf({ prefix }: { readonly prefix: string }): string {
  return `{${prefix}k}:queue`;
}

/** How many keys of the servers came to their end. */
async function expired(control: Redis | Cluster): Promise<number> {
  const nodes = control instanceof Cluster ? control.nodes('master') : [control];
  const stats = await Promise.all(nodes.map((node) => node.info('stats')));
  return stats.reduce((sum, text) => sum + Number(/^expired_keys:(\d+)/m.exec(text)![1]), 0);
}
