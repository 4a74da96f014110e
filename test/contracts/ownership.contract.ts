import { expect } from '@jest/globals';
import { entryOf } from '../../lib/engine/locks/entry.js';
import { TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';

export const ownership: Contract = {
  async 'a stranger cannot release the lock'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    expect(await b.lock.release(b.request(), 0)).toBe(false);
    expect(await b.lock.release(b.request(), 1_000)).toBe(false);
    expect(await world.holder()).toBe(request.holder);
  },

  async 'a stranger cannot extend the lock'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: TTL });
    expect((await b.lock.extend([b.request({ ttl: 3 * TTL })])).remaining).toEqual([world.gone]);
    const { holder, remaining } = await world.snapshot();
    expect(holder).toBe(request.holder);
    expect(remaining).toBeLessThanOrEqual(TTL);
  },

  async 'a stranger who leaves changes nothing'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: waiting } = await a.queue();
    expect(await b.lock.leave(b.request())).toBe(false);
    const { holder, entries } = await world.snapshot();
    expect(holder).toBe(request.holder);
    expect(entries.map(({ entry }) => entry)).toEqual([entryOf(waiting)]);
  },

  async 'an extension brings no lease back that has ended'(world) {
    const a = await world.client();
    const { request } = await a.hold({ ttl: TTL });
    await world.pass(TTL);
    await world.until('the lease is over', async () => (await world.snapshot()).type === 'none');
    expect((await a.lock.extend([request])).remaining).toEqual(['free']);
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'an extension brings no released lease back'(world) {
    const a = await world.client();
    const { request } = await a.hold();
    await a.lock.release(request, 0);
    expect((await a.lock.extend([request])).remaining).toEqual(['free']);
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'who held the lock before touches nothing of who holds it now'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request: before } = await a.hold({ ttl: TTL });
    await world.pass(TTL);
    await world.until('the lease is over', async () => (await world.snapshot()).type === 'none');
    const { request: now } = await b.hold({ ttl: TTL });
    expect(await a.lock.release(before, 0)).toBe(false);
    expect(await a.lock.leave(before)).toBe(false);
    expect((await a.lock.extend([{ ...before, ttl: 3 * TTL }])).remaining).toEqual([world.gone]);
    const { holder, remaining } = await world.snapshot();
    expect(holder).toBe(now.holder);
    expect(remaining).toBeLessThanOrEqual(TTL);
  },

  async 'who lost the lock to an operator is told, and can do nothing with it'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: next } = await b.queue();
    expect(await b.lock.force('k')).toBe(true);
    expect(await world.holder()).toBe(next.holder);
    await world.until('the old holder is told', () => a.forced.includes(request.holder));
    expect((await a.lock.extend([request])).remaining).toEqual([world.gone]);
    expect(await a.lock.release(request, 0)).toBe(false);
    expect(await world.holder()).toBe(next.holder);
  },

  async 'an operator who names what was seen takes nothing from who holds it by now'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: TTL });
    const { sight } = await world.snapshot();
    await a.lock.release(request, 0);
    const { request: now } = await b.hold();
    expect(await a.lock.force('k', undefined, sight)).toBe('another');
    expect(await world.holder()).toBe(now.holder);
    expect((await b.lock.extend([now])).remaining).toEqual([5_000]);
  },

  async 'an operator who names what was seen takes it, renewed or not'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: TTL });
    const { sight } = await world.snapshot();
    await a.lock.extend([{ ...request, ttl: 3 * TTL }]);
    expect(await b.lock.force('k', undefined, sight)).toBe(true);
    expect((await world.snapshot()).type).toBe('none');
    const { request: next } = await b.hold();
    expect(await b.lock.force('k', undefined, sight)).toBe('another');
    await b.lock.release(next, 0);
    expect(await b.lock.force('k', undefined, sight)).toBe(false);
  },

  async 'there is nothing to take from a free lock'(world) {
    const a = await world.client();
    expect(await a.lock.force('k')).toBe(false);
  },
};

export const ownershipOnRedis: Contract = {};
