import { expect } from '@jest/globals';
import { entryOf } from '../../lib/engine/locks/entry.js';
import type { Contract } from '../support/contract.js';
import { type World, type Wrap, withSteps } from '../support/world.js';

export const handOff: Contract = {
  async 'a release with a waiter never frees the lock'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: successor } = await b.queue();
    expect(await a.lock.release(request, 0)).toBe(true);
    expect(await world.holder()).toBe(successor.holder); // before anybody asks: that would hand a free lock on
    expect((await c.try(c.request())).kind).toBe('busy');
    expect(await world.holder()).toBe(successor.holder);
  },

  async 'the successor is told its key, its token and its time'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const key = 'a key: with spaces';
    const { request, grant } = await a.hold({ key });
    const { request: successor } = await b.queue({ key, ttl: 60_000 });
    const before = world.clock.monotonic();
    await a.lock.release(request, 0);
    await world.until('the push arrives', () => b.grants.length > 0);
    const [push] = b.grants;
    expect(push!.request).toMatchObject({ key, holder: successor.holder });
    expect(push!.grant.remaining).toBe(3_000);
    expect(push!.grant.fencingToken).toBeGreaterThan(grant.fencingToken!);
    expect(push!.grant.fencingToken).toBe((await world.snapshot(key)).fencingToken);
    expect(push!.grant.sent!.monotonic).toBeLessThanOrEqual(world.clock.monotonic());
    expect(push!.grant.sent!.monotonic).toBeGreaterThan(before - 1_000);
  },

  async 'a first lease is not longer than its ttl, nor than three seconds'(world) {
    const [a, b] = [await world.client(), await world.client()];
    for (const [ttl, first] of [
      [700, 700],
      [60_000, 3_000],
    ] as const) {
      const key = `first of ${ttl}`;
      const { request } = await a.hold({ key });
      await b.queue({ key, ttl });
      await a.lock.release(request, 0);
      const { remaining } = await world.snapshot(key);
      expect(remaining).toBeLessThanOrEqual(first);
      await world.until('the push arrives', () => b.grants.at(-1)?.request.key === key);
      expect(b.grants.at(-1)!.grant.remaining).toBe(first);
    }
  },

  async 'the successor sends nothing to own the lock'(world) {
    let asks = 0;
    const counting: Wrap = (store) =>
      withSteps(store, {
        acquire: (ask) => {
          asks += 1;
          return store.acquire(ask);
        },
      });
    const [a, b] = [await world.process(), await world.process({}, counting)];
    const lease = await a.acquire();
    const wait = b.acquire();
    await world.waiting(1);
    const before = asks;
    await lease.release();
    const successor = await world.finish(wait);
    expect(successor.held).toBe(true);
    expect(asks).toBe(before);
  },

  async 'an unfenced waiter is given the lock without a token'(world) {
    const a = await world.client();
    const { request } = await a.hold();
    const { request: successor } = await a.queue({ tokenBlock: 0 });
    await a.lock.release(request, 0);
    await world.until('the push arrives', () => a.granted(successor) !== undefined);
    expect(a.granted(successor)!.fencingToken).toBeUndefined();
  },

  async 'a waiter that cannot hear is passed over and keeps its entry'(world) {
    const [a, deaf, b] = [
      await world.client(),
      await world.client({ deaf: true }),
      await world.client(),
    ];
    const { request } = await a.hold();
    const { request: unheard } = await deaf.queue();
    const { request: successor } = await b.queue();
    await a.lock.release(request, 0);
    const { holder, entries } = await world.snapshot();
    expect(holder).toBe(successor.holder);
    expect(entries.map(({ entry }) => entry)).toEqual([entryOf(unheard)]);
    await b.lock.release(successor, 0);
    expect((await deaf.ask(unheard)).kind).toBe('held');
  },

  async 'a lock that nobody hears of is free, and the first who asks has it'(world) {
    const [a, deaf] = [await world.client(), await world.client({ deaf: true })];
    const { request } = await a.hold();
    const first = await deaf.queue();
    const second = await deaf.queue();
    await a.lock.release(request, 0);
    expect(await world.snapshot()).toMatchObject({ type: 'none', waiting: 2 });
    expect((await deaf.ask(second.request)).kind).toBe('held');
    expect(await deaf.ask(first.request)).toMatchObject({ kind: 'queued', rank: 0 });
  },

  async 'the operator’s way goes to the next waiter too'(world) {
    const [a, b] = [await world.client(), await world.client()];
    await a.hold();
    const { request: successor } = await b.queue();
    await a.lock.force('k');
    await world.until('the push arrives', () => b.granted(successor) !== undefined);
    expect(await world.holder()).toBe(successor.holder);
  },
};

/** How many messages the server was asked to publish. */
async function publishes(world: World): Promise<number> {
  const stats = await world.redis!.control.info('commandstats');
  return Number(/^cmdstat_publish:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

export const handOffOnRedis: Contract = {
  async 'a waiter whose holder may not publish is not lost'(world) {
    const { control, prefix } = world.redis!;
    await control.call('ACL', 'SETUSER', 'mute', 'reset', 'on', 'nopass', '~*', '&*', '+@all');
    const { host, port, db } = control.options;
    const redis = `redis://mute:x@${host}:${port}/${db}`;
    const a = await world.client({ redis, keyPrefix: prefix });
    const b = await world.client();
    const { request } = await a.hold();
    const { request: successor } = await b.queue();
    await control.call('ACL', 'SETUSER', 'mute', 'resetchannels');
    const subscribers = (await control.call('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string;
    const isCutOff = !subscribers.includes(' user=mute '); // Redis 6.2.5 lets it go on listening
    expect(await a.lock.release(request, 0).catch(String)).toBe(true);
    expect(await world.holder()).toBe(successor.holder); // its next ask finds the grant
    expect((await b.ask(successor)).kind).toBe('held');
    await control.call('ACL', 'SETUSER', 'mute', '&*');
    if (isCutOff) await world.until('the mute process hears again', () => a.reconnects > 0);
  },

  async 'a waiter of the releasing process hears of its turn in the answer to the release'(world) {
    const a = await world.client();
    const { request } = await a.hold();
    const { request: successor } = await a.queue();
    const told = await publishes(world);
    expect(await a.lock.release(request, 0)).toBe(true);
    if (world.confirms)
      await world.until('it is confirmed', () => a.granted(successor) !== undefined);
    expect(a.granted(successor)).toMatchObject({ remaining: 3_000 });
    expect(await publishes(world)).toBe(told);
    expect(await world.holder()).toBe(successor.holder);
  },

  async 'a hand-off under memory pressure makes one holder, and tells it'(world) {
    const { control } = world.redis!;
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: successor } = await b.queue({ tokenBlock: 0 });
    await b.queue();
    await control.config('SET', 'maxmemory', '1');
    try {
      const released = await a.lock.release(request, 0).catch(() => false);
      expect(await world.holder()).toBe(successor.holder);
      expect(released).toBe(true);
      await world.until('the push arrives', () => b.granted(successor) !== undefined);
      expect(b.grants).toHaveLength(1);
    } finally {
      await control.config('SET', 'maxmemory', '0');
    }
  },
};
