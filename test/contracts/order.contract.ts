import { expect } from '@jest/globals';
import { entryOf } from '../../lib/engine/locks/entry.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import type { Client } from '../support/client.js';
import { TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { expectGrowing } from '../support/growing.js';
import { checkHistory } from '../support/history.js';
import { later } from '../support/later.js';
import { type World, withSteps } from '../support/world.js';
import { contend } from './mutual-exclusion.contract.js';

export const order: Contract = {
  async 'waiters of several processes are served in the order in which they came'(world) {
    const clients = await Promise.all([1, 2, 3].map(() => world.client()));
    let holding = (await clients[0]!.hold()).request;
    const waiting: { client: Client; request: LockRequest }[] = [];
    for (let at = 0; at < 12; at += 1) {
      const client = clients[(at * 2) % 3]!;
      const { request, entry } = await client.queue();
      expect(entry.rank).toBe(at);
      waiting.push({ client, request });
    }
    let last: Client = clients[0]!;
    for (const { client, request } of waiting) {
      expect(await last.lock.release(holding, 0)).toBe(true);
      expect(await world.holder()).toBe(request.holder);
      [holding, last] = [request, client];
    }
  },

  async 'entries keep their arrival, and every later entry has a later one'(world) {
    const a = await world.client();
    await a.hold();
    const entries = await Promise.all(Array.from({ length: 20 }, () => a.queue()));
    const arrivals = entries.map(({ entry }) => Number(entry.enqueuedAt));
    expectGrowing(arrivals);
    for (const arrival of arrivals) expect(Number.isSafeInteger(arrival)).toBe(true);
  },

  async 'a newcomer does not pass those who wait, although the lock is free'(world) {
    const { first, second } = await freeWithTwoWaiting(world);
    const newcomer = second.client.request();
    expect((await second.client.ask(newcomer)).kind).toBe('queued');
    expect(await world.holder()).toBe(first.request.holder);
  },

  async 'a process that was not there before does not pass those who wait'(world) {
    const { first } = await freeWithTwoWaiting(world);
    const newcomer = await world.client();
    expect((await newcomer.ask(newcomer.request())).kind).toBe('queued');
    expect(await world.holder()).toBe(first.request.holder);
  },

  async 'who asks once does not pass those who wait, although the lock is free'(world) {
    const { first, second } = await freeWithTwoWaiting(world);
    expect((await second.client.try(second.client.request())).kind).toBe('busy');
    expect(await world.holder()).toBe(first.request.holder);
  },

  async 'the second in the queue who asks does not pass the first'(world) {
    const { first, second } = await freeWithTwoWaiting(world);
    expect(await second.client.ask(second.request)).toMatchObject({ kind: 'queued', rank: 0 });
    expect(await world.holder()).toBe(first.request.holder);
  },

  async 'asking again does not move an entry'(world) {
    const [a, b] = [await world.client(), await world.client()];
    await a.hold();
    const queued = [await a.queue(), await b.queue(), await a.queue()];
    for (const { request } of queued.toReversed()) await a.ask(request);
    const { entries } = await world.snapshot();
    expect(entries.map(({ entry }) => entry)).toEqual(
      queued.map(({ request }) => entryOf(request)),
    );
  },

  async 'entries that the server forgot are taken up again in their old order'(world) {
    const [a, b] = [await world.client(), await world.client()];
    await a.hold();
    const queued = [await b.queue(), await b.queue(), await b.queue()];
    await world.flush();
    await a.hold();
    for (const { request, entry } of queued.toReversed()) {
      const again = await b.ask(request, { enqueuedAt: entry.enqueuedAt });
      expect(again).toMatchObject({ kind: 'queued', requeued: true, enqueuedAt: entry.enqueuedAt });
    }
    const { entries } = await world.snapshot();
    expect(entries.map(({ entry }) => entry)).toEqual(
      queued.map(({ request }) => entryOf(request)),
    );
  },

  async 'a caller that waits says with each further ask when it was enqueued'(world) {
    const asks: (string | undefined)[] = [];
    const [holder, waiting] = [
      await world.client(),
      await world.process({}, (store) =>
        withSteps(store, {
          acquire: (request) => {
            asks.push(request.enqueuedAt);
            return store.acquire(request);
          },
        }),
      ),
    ];
    const { request } = await holder.hold();
    const wait = later(waiting.acquire({ wait: Infinity }));
    await world.until('it has asked again, and again', () => asks.length >= 3);
    const [first, second, ...further] = asks;
    expect(first).toBeUndefined();
    expect(second).toBeDefined();
    expect(further.every((enqueuedAt) => enqueuedAt === second)).toBe(true);
    await holder.lock.release(request, 0);
    await (await world.finish(wait)).release();
  },

  async 'under contention grants follow the queue'(world) {
    const { history, sections } = await contend(world, { count: 8, callers: 1 });
    checkHistory(history, { sections });
    expect(history.filter(({ arrival }) => arrival !== undefined).length).toBeGreaterThan(10);
  },
};

/** The holder's lease has ended by itself, and nobody has asked since. */
async function freeWithTwoWaiting(
  world: World,
): Promise<Record<'first' | 'second', { client: Client; request: LockRequest }>> {
  const [a, b, c] = [await world.client(), await world.client(), await world.client()];
  await a.hold({ ttl: TTL });
  const first = await b.queue();
  const second = await c.queue();
  await world.pass(TTL);
  await world.silence(-TTL); // those who wait have asked just now
  await world.until('the lease is over', async () => (await world.snapshot()).type === 'none');
  return {
    first: { client: b, request: first.request },
    second: { client: c, request: second.request },
  };
}

export const orderOnRedis: Contract = {
  async 'a server clock that steps back lets nobody pass'(world) {
    const { control, prefix } = world.redis!;
    const a = await world.client();
    await a.hold();
    const early = await a.queue();
    const ahead = Number(early.entry.enqueuedAt) + 3_600_000_000;
    await control.zadd(`{${prefix}k}:queue`, ahead, entryOf(early.request));
    const { entry } = await a.queue();
    expect(entry.rank).toBe(1);
    expect(Number(entry.enqueuedAt)).toBe(ahead + 1);
  },
};
