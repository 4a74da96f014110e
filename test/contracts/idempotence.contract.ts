import { expect } from '@jest/globals';
import { TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';

export const idempotence: Contract = {
  async 'an acquire that arrives twice is one grant with one token'(world) {
    const a = await world.client();
    const { request, grant } = await a.hold();
    const again = await a.ask(request);
    expect(again).toMatchObject({ kind: 'held', fencingToken: grant.fencingToken });
    expect(await a.try(request)).toMatchObject({ kind: 'held', fencingToken: grant.fencingToken });
    expect(await world.snapshot()).toMatchObject({ holder: request.holder, waiting: 0 });
  },

  async 'a repeated acquire answers what is left, not a full ttl'(world) {
    const a = await world.client();
    const { request } = await a.hold({ ttl: TTL });
    await world.elapse(60); // that the server itself counts them
    const again = await a.ask(request);
    if (again.kind !== 'held') throw new Error(again.kind);
    expect(again.remaining).toBeLessThanOrEqual(TTL - 55);
    expect(again.remaining).toBeGreaterThan(0);
    expect((await world.snapshot()).remaining).toBeLessThanOrEqual(TTL - 55);
  },

  async 'who asks twice has one entry'(world) {
    const [a, b] = [await world.client(), await world.client()];
    await a.hold();
    const { request, entry } = await b.queue();
    const other = await b.queue();
    const again = await b.ask(request);
    expect(again).toMatchObject({ kind: 'queued', enqueuedAt: entry.enqueuedAt, rank: 0 });
    expect(await b.ask(request, { enqueuedAt: entry.enqueuedAt })).toMatchObject({
      enqueuedAt: entry.enqueuedAt,
      rank: 0,
      requeued: false,
    });
    expect(other.entry.rank).toBe(1);
    expect((await world.snapshot()).waiting).toBe(2);
  },

  async 'a pushed grant is found again by asking, with the same token'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: successor } = await b.queue();
    await a.lock.release(request, 0);
    await world.until('the push arrives', () => b.granted(successor) !== undefined);
    const again = await b.ask(successor);
    expect(again).toMatchObject({ kind: 'held', fencingToken: b.granted(successor)!.fencingToken });
    expect((again as { remaining: number }).remaining).toBeLessThanOrEqual(3_000);
  },

  async 'a release that arrives twice lets one waiter in'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: first } = await b.queue();
    await b.queue();
    expect(await a.lock.release(request, 0)).toBe(true);
    expect(await a.lock.release(request, 0)).toBe(false);
    expect(await world.snapshot()).toMatchObject({ holder: first.holder, waiting: 1 });
  },

  async 'a minimum hold that arrives twice is not longer'(world) {
    const a = await world.client();
    const { request } = await a.hold();
    expect(await a.lock.release(request, 1_000)).toBe(true);
    expect(await a.lock.release(request, 9_000)).toBe(false);
    expect((await world.snapshot()).remaining).toBeLessThanOrEqual(1_000);
  },

  async 'a leave that arrives twice lets one waiter in'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: leaver } = await b.queue();
    const { request: second } = await b.queue();
    await b.queue();
    await a.lock.release(request, 0);
    expect(await b.lock.leave(leaver)).toBe(true);
    expect(await b.lock.leave(leaver)).toBe(false);
    expect(await world.snapshot()).toMatchObject({ holder: second.holder, waiting: 1 });
  },

  async 'an extension that arrives twice is one'(world) {
    const a = await world.client();
    const { request } = await a.hold({ ttl: 1_000 });
    const twice = await Promise.all([a.lock.extend([request]), a.lock.extend([request])]);
    for (const { remaining } of twice) expect(remaining[0]).toBeLessThanOrEqual(1_000);
    expect((await world.snapshot()).remaining).toBeLessThanOrEqual(1_000);
  },
};

export const idempotenceOnRedis: Contract = {
  async 'a script that the server has forgotten is sent again in full, with the effect of once'(
    world,
  ) {
    const a = await world.client();
    await a.hold();
    const { request } = await a.queue();
    await world.redis!.control.script('FLUSH');
    expect(await a.ask(request)).toMatchObject({ kind: 'queued', rank: 0 });
    expect((await world.snapshot()).waiting).toBe(1);
  },
};
