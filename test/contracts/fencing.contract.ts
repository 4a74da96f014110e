import { expect } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FIRST_BLOCK } from '../../lib/engine/client/queue/local-queue.js';
import { TTL } from '../support/bounds.js';
import type { Grant } from '../../lib/engine/locks/lock-store.js';
import type { Contract } from '../support/contract.js';
import { expectGrowing } from '../support/growing.js';
import { random } from '../support/random.js';

/** How far tokens may lead the clock, in µs. */
const LEAD = 100_000;

export const fencing: Contract = {
  async 'tokens grow with every grant'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const tokens: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const { request, grant } = await a.hold();
      const { request: successor } = await b.queue();
      await a.lock.release(request, 0);
      await world.until('the push arrives', () => b.granted(successor) !== undefined);
      await b.lock.release(successor, 0);
      tokens.push(grant.fencingToken!, b.granted(successor)!.fencingToken!);
    }
    expectGrowing(tokens);
    for (const token of tokens) expect(Number.isSafeInteger(token)).toBe(true);
  },

  async 'tokens of each lock grow, however many are granted at one moment'(world) {
    const a = await world.client();
    const keys = Array.from({ length: 12 }, (_, nth) => `k${nth}`);
    const tokens = keys.map((): number[] => []);
    for (let round = 0; round < 4; round += 1) {
      const held = await Promise.all(keys.map((key) => a.hold({ key })));
      held.forEach(({ grant }, nth) => tokens[nth]!.push(grant.fencingToken!));
      await Promise.all(held.map(({ request }) => a.lock.release(request, 0)));
    }
    for (const each of tokens) expectGrowing(each);
  },

  async 'tokens grow over the end of a lease'(world) {
    const a = await world.client();
    const { grant } = await a.hold({ ttl: 60 });
    await world.until('the lease is over', async () => (await world.snapshot()).type === 'none');
    expect((await a.hold()).grant.fencingToken).toBeGreaterThan(grant.fencingToken!);
  },

  async 'tokens grow although the server lost everything'(world) {
    const a = await world.client();
    let last = 0;
    for (let round = 0; round < 5; round += 1) {
      const { grant } = await a.hold();
      expect(grant.fencingToken).toBeGreaterThan(last);
      last = grant.fencingToken!;
      await world.flush();
      await world.elapse(2);
    }
  },

  async 'tokens grow when the entry was asked for again'(world) {
    const [a, deaf] = [await world.client(), await world.client({ deaf: true })];
    const { request, grant } = await a.hold();
    const { request: successor } = await deaf.queue();
    await a.lock.release(request, 0);
    const polled = await deaf.ask(successor);
    expect(polled).toMatchObject({ kind: 'held' });
    expect((polled as { fencingToken: number }).fencingToken).toBeGreaterThan(grant.fencingToken!);
  },

  async 'a token is that of the lease for as long as it lasts'(world) {
    const process = await world.process();
    const lease = await process.acquire({ ttl: TTL });
    const token = lease.fencingToken;
    const last = (await world.snapshot()).fencingToken!;
    expect(last - token).toBe(world.fairness === 'local' ? FIRST_BLOCK - 1 : 0);
    await world.renewed(process, TTL, 4);
    expect(lease.held).toBe(true);
    expect(lease.fencingToken).toBe(token);
    expect((await world.snapshot()).fencingToken).toBe(last);
  },

  async 'a holder keeps its token, whatever is granted of other locks meanwhile'(world) {
    const a = await world.client();
    const one = await a.hold({ key: 'one' });
    const two = await a.hold({ key: 'two' });
    for (const { request, grant } of [one, two]) {
      expect(await a.ask(request)).toMatchObject({ fencingToken: grant.fencingToken });
    }
    expectGrowing([one.grant.fencingToken!, two.grant.fencingToken!]);
  },

  async 'the tokens of each lock grow where several are granted in turn, in blocks, by answers and by pushes'(
    world,
  ) {
    const [a, b] = [await world.client(), await world.client()];
    const next = random(7);
    const beyond = new Map<string, number>();
    const granted = (key: string, grant: Grant): void => {
      expect(grant.fencingToken).toBeGreaterThan(beyond.get(key) ?? 0);
      beyond.set(key, grant.fencingToken! + grant.tokens - 1);
    };
    for (let round = 0; round < 20; round += 1) {
      const held = await Promise.all(
        ['one', 'two', 'three'].map((key) =>
          a.hold({ key, tokenBlock: 1 + Math.floor(LEAD * next()) }),
        ),
      );
      for (const { request, grant } of held) {
        granted(request.key, grant);
        if (next() < 0.5) {
          await a.lock.release(request, 0);
          continue;
        }
        const { request: successor } = await b.queue({ key: request.key, tokenBlock: 5 });
        await a.lock.release(request, 0);
        await world.until('the push arrives', () => b.granted(successor) !== undefined);
        granted(request.key, b.granted(successor)!);
        await b.lock.release(successor, 0);
      }
    }
  },

  async 'locks that are asked for at one moment, again and again, have growing tokens each'(world) {
    const a = await world.client();
    const keys = Array.from({ length: 40 }, (_, nth) => `k${nth}`);
    const last = new Map<string, number>();
    for (let round = 0; round < 5; round += 1) {
      const held = await Promise.all(keys.map((key) => a.hold({ key, tokenBlock: 3 })));
      for (const { request, grant } of held) {
        expect(grant.fencingToken).toBeGreaterThan(last.get(request.key) ?? 0);
        last.set(request.key, grant.fencingToken! + grant.tokens - 1);
      }
      await Promise.all(held.map(({ request }) => a.lock.release(request, 0)));
    }
  },

  async 'tokens lead the clock by 100 ms at most, however many locks reserve blocks of them'(
    world,
  ) {
    const a = await world.client();
    const coming: ReturnType<typeof a.hold>[] = [];
    for (let nth = 0; nth < 40; nth += 1) {
      coming.push(a.hold({ key: `k${nth}`, tokenBlock: LEAD }));
      await nextTurn(); // each in a command of its own, behind the one before
    }
    const held = await Promise.all(coming);
    expect(held.filter(({ grant }) => grant.tokens < 1)).toEqual([]);
    const lasts = held.map(({ grant }) => grant.fencingToken! + grant.tokens - 1);
    const snapshots = held.map(({ request }) => world.snapshot(request.key));
    for (const { now, fencingToken } of await Promise.all(snapshots)) {
      expect(fencingToken! - now * 1_000).toBeLessThanOrEqual(LEAD + held.length);
      expect(lasts).toContain(fencingToken);
    }
  },

  async 'who wants no token gets none, and costs the lock no key'(world) {
    const a = await world.client();
    const { grant } = await a.hold({ tokenBlock: 0 });
    expect(grant.fencingToken).toBeUndefined();
    expect((await world.keys()).filter(({ name }) => /fence/.test(name))).toEqual([]);
  },

  async 'an unfenced grant between two fenced ones does not disturb their order'(world) {
    const a = await world.client();
    const first = await a.hold();
    await a.lock.release(first.request, 0);
    const between = await a.hold({ tokenBlock: 0 });
    await a.lock.release(between.request, 0);
    expect((await a.hold()).grant.fencingToken).toBeGreaterThan(first.grant.fencingToken!);
  },
};

export const fencingOnRedis: Contract = {
  async 'tokens grow under a server clock that steps back, and are kept the longer'(world) {
    const { control, prefix } = world.redis!;
    const fence = `${prefix}{}:fence`;
    const ahead = (Date.now() + 3_600_000) * 1_000;
    await control.set(fence, String(ahead));
    const a = await world.client();
    const { request, grant } = await a.hold();
    expect(grant.fencingToken).toBe(ahead + 1);
    expect(await control.pttl(fence)).toBeGreaterThan(86_400_000 + 3_590_000);
    const { request: successor } = await a.queue();
    await a.lock.release(request, 0);
    await world.until('the push arrives', () => a.granted(successor) !== undefined);
    expect(a.granted(successor)!.fencingToken).toBe(ahead + 2);
  },

  async 'a fence that somebody wrote over costs nothing: tokens go on at the clock of the server'(
    world,
  ) {
    const { control, prefix } = world.redis!;
    const fence = `${prefix}{}:fence`;
    const a = await world.client();
    let { request, grant } = await a.hold();
    for (const garbage of ['9007199254740993', '1e300', '-1', 'inf', 'nan', 'none', '']) {
      await a.lock.release(request, 0);
      await control.set(fence, garbage);
      const last = grant.fencingToken!;
      ({ request, grant } = await a.hold());
      expect(grant.fencingToken).toBeGreaterThan(last);
      expect(grant.fencingToken).toBeLessThanOrEqual((Date.now() + 60_000) * 1_000);
    }
  },

  async 'tokens and arrivals are written as whole numbers'(world) {
    const { control, prefix } = world.redis!;
    const a = await world.client();
    const { request } = await a.hold();
    const { entry } = await a.queue();
    expect(await control.get(`${prefix}{}:fence`)).toMatch(/^\d{16}$/);
    expect(entry.enqueuedAt).toMatch(/^\d{16}$/);
    await a.lock.release(request, 0);
    expect(await control.get(`${prefix}{}:fence`)).toMatch(/^\d{16}$/);
    await control.set(`${prefix}{}:fence`, '3999999999990000');
    await a.lock.force('k');
    const { grant } = await a.hold();
    expect(grant.fencingToken).toBe(3_999_999_999_990_001);
    expect(await control.get(`${prefix}{}:fence`)).toBe('3999999999990001');
  },

  async 'an evicted fence costs no order once the clock has passed what was reserved'(world) {
    const { control, prefix } = world.redis!;
    const a = await world.client();
    const { request, grant } = await a.hold({ tokenBlock: 99_000 });
    await a.lock.release(request, 0);
    await world.elapse(101);
    await control.del(`${prefix}{}:fence`);
    const successor = await a.hold();
    expect(successor.grant.fencingToken).toBeGreaterThan(grant.fencingToken! + grant.tokens - 1);
  },

  async 'a token outlives the lock by a day'(world) {
    const { control, prefix } = world.redis!;
    const a = await world.client();
    const { request } = await a.hold();
    await a.lock.release(request, 0);
    expect(await control.pttl(`${prefix}{}:fence`)).toBeGreaterThan(86_399_000);
  },
};
