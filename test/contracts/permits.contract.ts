import { expect } from '@jest/globals';
import { ForeignLockError } from '../../lib/engine/errors/index.js';
import type { Grant } from '../../lib/engine/locks/lock-store.js';
import { READER, type Share } from '../../lib/engine/options/index.js';
import { atMost, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { expectGrowing } from '../support/growing.js';
import { checkHistory, HistoryRecorder } from '../support/history.js';
import { random } from '../support/random.js';

/** `count` of so many permits. */
function of(permits: number, count = 1): { share: Share } {
  return { share: { permits, count } };
}

export const permits: Contract = {
  async 'no more hold than there are permits, and the next waits'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const first = await a.hold(of(3));
    await a.hold(of(3));
    await b.hold(of(3));
    expect((await b.try(b.request(of(3)))).kind).toBe('busy');
    const { request: next } = await b.queue(of(3));
    expect(await world.snapshot()).toMatchObject({ mode: 'permits', waiting: 1 });
    await a.lock.release(first.request, 0);
    await world.told(b, next);
    expect((await world.snapshot()).holders).toHaveLength(3);
  },

  async 'who wants several permits gets them at once, or waits, and those behind wait too'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const one = await a.hold(of(3));
    const two = await a.hold(of(3));
    const { request: both } = await b.queue(of(3, 2));
    expect((await c.try(c.request(of(3)))).kind).toBe('busy');
    const { request: behind } = await c.queue(of(3));
    await world.noHurry();
    await a.lock.release(one.request, 0);
    await world.told(b, both);
    expect(c.granted(behind)).toBeUndefined();
    expect((await world.snapshot()).holders).toHaveLength(3);
    await a.lock.release(two.request, 0);
    await world.told(c, behind);
    expect(await b.lock.release(both, 0)).toBe(true);
    expect((await world.snapshot()).holders).toMatchObject([{ holder: behind.holder }]);
  },

  async 'several permits are extended together and given back together'(world) {
    const a = await world.client();
    const { request } = await a.hold({ ...of(4, 3), ttl: TTL });
    expect((await a.lock.extend([{ ...request, ttl: 3 * TTL }])).remaining).toEqual([3 * TTL]);
    const { holders } = await world.snapshot();
    expect(holders.map(({ remaining }) => remaining > 2 * TTL)).toEqual([true, true, true]);
    expect(await a.lock.release(request, 0)).toBe(true);
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'as many permits are taken as a lease has, and as many come back'(world) {
    const [a, b] = [await world.client(), await world.client()];
    await a.hold({ ...of(20), ttl: 60_000 }); // nobody renews it, and a busy machine takes its time
    for (const count of [2, 3, 7, 10, 19]) {
      const { request } = await b.hold(of(20, count));
      expect((await a.try(a.request(of(20, 20 - count)))).kind).toBe('busy');
      expect((await world.snapshot()).holders).toHaveLength(1 + count);
      expect(await b.lock.release(request, 0)).toBe(true);
    }
    expect((await world.snapshot()).holders).toHaveLength(1);
  },

  async 'where two disagree on the number, nobody comes in beyond its own'(world) {
    const [old, young] = [await world.client(), await world.client()];
    await old.hold(of(2));
    const second = await old.hold(of(2));
    expect((await old.try(old.request(of(2)))).kind).toBe('busy');
    const third = await young.hold(of(3));
    expect((await young.try(young.request(of(3)))).kind).toBe('busy');
    const { request: strict } = await old.queue(of(2));
    await young.lock.release(third.request, 0);
    expect((await world.snapshot()).waiting).toBe(1);
    await old.lock.release(second.request, 0);
    await world.told(old, strict);
    expect((await world.snapshot()).holders).toHaveLength(2);
  },

  async 'permits that come back twice come back once'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold(of(1));
    const { request: next } = await b.queue(of(1));
    expect(await a.lock.release(request, 0)).toBe(true);
    expect(await a.lock.release(request, 0)).toBe(false);
    expect((await a.try(a.request(of(1)))).kind).toBe('busy');
    expect((await world.snapshot()).holders).toMatchObject([{ holder: next.holder }]);
  },

  async 'a crash costs the ttl of that permit, and no other'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.process()];
    await a.hold({ ...of(2), ttl: TTL });
    const { request } = await b.hold({ ...of(2), ttl: 3 * TTL });
    const from = c.clock.monotonic();
    const wait = later(c.acquire({ ...of(2), wait: Infinity }));
    await world.waiting(1);
    await world.pass(TTL);
    const lease = await world.finish(wait);
    expect(c.clock.monotonic() - from).toBeLessThan(atMost(world, TTL + 300));
    expect((await b.lock.extend([request])).remaining[0]).toBeGreaterThan(TTL);
    await lease.release();
  },

  async 'a name is used either with permits or without'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold(of(2));
    await expect(b.ask(b.request())).rejects.toThrow(ForeignLockError);
    await expect(b.try(b.request({ share: READER }))).rejects.toThrow(ForeignLockError);
    await a.lock.release(request, 0);
    const elsewhere = `my_host.1.${'A'.repeat(11)}/1`;
    for (const more of [{}, { share: READER }, { holder: elsewhere }]) {
      const other = { ...b.request(), ...more };
      expect((await b.try(other)).kind).toBe('held');
      await expect(a.ask(a.request(of(2)))).rejects.toThrow(ForeignLockError);
      await b.lock.release(other, 0);
    }
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'each permit has a token of its own, above every earlier one'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const tokens: number[] = [];
    const held = [await a.hold(of(2)), await b.hold(of(2))];
    tokens.push(...held.map(({ grant }) => grant.fencingToken!));
    const { request: next } = await b.queue(of(2));
    await a.lock.release(held[0]!.request, 0);
    await world.until('the next is told', () => b.granted(next) !== undefined);
    tokens.push(b.granted(next)!.fencingToken!);
    await world.elapse(1);
    await world.flush();
    tokens.push((await a.hold(of(2))).grant.fencingToken!);
    expectGrowing(tokens);
  },

  async 'who asks again has the same token, although others came after it'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request, grant } = await a.hold(of(3));
    await b.hold(of(3));
    expect(await a.ask(request)).toMatchObject({ kind: 'held', fencingToken: grant.fencingToken });
    expect((await world.snapshot()).holders).toHaveLength(2);
  },

  async 'a permit that ran out and is granted anew has a token above those that came between'(
    world,
  ) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const { request } = await a.hold(of(1));
    const { request: next } = await b.queue({ ...of(1), ttl: TTL });
    await a.lock.release(request, 0);
    await world.until('the next is told', () => b.granted(next) !== undefined);
    await world.outlive(TTL);
    const between = await c.hold(of(1));
    await c.lock.release(between.request, 0);
    const again = (await b.ask(next)) as Grant;
    expect(again.kind).toBe('held');
    const first = b.granted(next)!.fencingToken!;
    expectGrowing([first, between.grant.fencingToken!, again.fencingToken!]);
    expect(await b.ask(next)).toMatchObject({ kind: 'held', fencingToken: again.fencingToken });
  },

  async 'a minimum hold keeps one permit, not the others'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold(of(2));
    expect(await a.lock.release(request, TTL)).toBe(true);
    expect(await a.lock.release(request, TTL)).toBe(false);
    expect((await a.lock.extend([request])).remaining).toEqual(['free']);
    await b.hold({ ...of(2), ttl: 3 * TTL });
    expect((await b.try(b.request(of(2)))).kind).toBe('busy');
    await world.pass(TTL);
    await b.hold(of(2));
  },

  async 'an operator takes all permits, and each holder is told'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const [first, second] = [await a.hold(of(3)), await b.hold(of(3, 2))];
    expect(await a.lock.force('k')).toBe(true);
    await world.until('both are told', () => a.forced.length + b.forced.length === 2);
    expect([...a.forced, ...b.forced].sort()).toEqual(
      [first.request.holder, second.request.holder].sort(),
    );
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'an operator who names the permits that were seen takes all of them, unless one came or went'(
    world,
  ) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold(of(4, 3));
    const { sight: before } = await world.snapshot();
    await b.hold(of(4));
    expect(await a.lock.force('k', undefined, before)).toBe('another');
    const { sight, holders } = await world.snapshot();
    expect(holders).toHaveLength(4);
    await a.lock.extend([{ ...request, ttl: 3 * TTL }]);
    expect(await a.lock.force('k', undefined, sight)).toBe(true);
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'a waiter that leaves lets those behind in who fit'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    await a.hold(of(3, 2));
    const { request: large } = await b.queue(of(3, 3));
    const { request: small } = await c.queue(of(3));
    await b.lock.leave(large);
    await world.until('the small one is told', () => c.granted(small) !== undefined);
    expect((await world.snapshot()).waiting).toBe(0);
  },

  async 'five permits are held by five at most, over processes, and nobody starves'(world) {
    const chance = random(11);
    const recorder = new HistoryRecorder(() => world.clock.monotonic());
    const processes = [
      await world.process({}, recorder.watch),
      await world.process({}, recorder.watch),
      await world.process({}, recorder.watch),
    ];
    const callers = processes.flatMap((process) => [1, 2, 3, 4].map(() => process));
    const all = callers.map(async (process) => {
      for (let section = 0; section < 10; section += 1) {
        await recorder.run(process, of(5), () => world.elapse(Math.floor(chance() * 3)));
      }
    });
    await world.finish(Promise.all(all));
    checkHistory(recorder.history, { sections: 120 });
  },
};

export const permitsOnRedis: Contract = {
  async 'who comes in behind an entry that nobody hears of keeps the permit, also where the last lease has just ended'(
    world,
  ) {
    const { control, prefix } = world.redis!;
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const deaf = await world.client({ deaf: true });
    const { request } = await a.hold(of(1));
    await deaf.queue(of(1));
    const { request: successor } = await b.queue(of(1));
    // Redis keeps the marker for a millisecond after the end of the lease.
    await control.zadd(`{${prefix}k}:holders`, 'XX', 1, request.holder);
    await c.lock.leave(c.request(of(1)));
    await world.told(b, successor);
    expect(await world.holder()).toBe(successor.holder);
    expect((await c.try(c.request(of(1)))).kind).toBe('busy');
    expect(await b.lock.release(successor, 0)).toBe(true);
  },
};
