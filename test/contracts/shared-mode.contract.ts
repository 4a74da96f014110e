import { expect } from '@jest/globals';
import {
  LeaseLostError,
  LockOptionsError,
  LockStoreError,
  LockUpgradeError,
} from '../../lib/engine/errors/index.js';
import { callSettings, READER } from '../../lib/engine/options/index.js';
import { atMost, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { Gate } from '../support/gate.js';
import { later } from '../support/later.js';
import { HistoryRecorder, checkHistory } from '../support/history.js';
import { random } from '../support/random.js';
import { withSteps, type World, type Wrap } from '../support/world.js';

const reader = { share: READER } as const;

export const sharedMode: Contract = {
  async 'readers hold together, and a writer waits for the last of them'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const readers = [await a.hold(reader), await b.hold(reader), await b.hold(reader)];
    expect(await world.snapshot()).toMatchObject({ mode: 'shared', waiting: 0 });
    expect((await c.try(c.request())).kind).toBe('busy');
    const { request: writer } = await c.queue();
    await a.lock.release(readers[0]!.request, 0);
    await b.lock.release(readers[1]!.request, 0);
    expect((await world.snapshot()).holders).toHaveLength(1);
    await b.lock.release(readers[2]!.request, 0);
    expect(await world.snapshot()).toMatchObject({ holder: writer.holder, mode: undefined });
    await world.until('the writer is told', () => c.granted(writer) !== undefined);
  },

  async 'a writer excludes readers'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    expect((await b.try(b.request(reader))).kind).toBe('busy');
    const { request: waiting } = await b.queue(reader);
    await a.lock.release(request, 0);
    await world.until('the reader is told', () => b.granted(waiting) !== undefined);
    expect(await world.snapshot()).toMatchObject({ mode: 'shared', holder: waiting.holder });
  },

  async 'a reader that comes later does not pass a waiting writer'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const { request: first } = await a.hold(reader);
    const { request: writer } = await b.queue();
    expect((await c.try(c.request(reader))).kind).toBe('busy');
    const { request: late } = await c.queue(reader);
    await a.lock.release(first, 0);
    expect(await world.holder()).toBe(writer.holder);
    await b.lock.release(writer, 0);
    expect(await world.snapshot()).toMatchObject({ mode: 'shared', holder: late.holder });
  },

  async 'readers that wait next to each other come in together, with one release'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const { request } = await a.hold();
    const first = [await b.queue(reader), await c.queue(reader), await b.queue(reader)];
    const { request: writer } = await c.queue();
    const { request: behind } = await b.queue(reader);
    await a.lock.release(request, 0);
    const { holders, waiting } = await world.snapshot();
    expect(holders.map(({ holder }) => holder).sort()).toEqual(
      first.map(({ request: own }) => own.holder).sort(),
    );
    expect(waiting).toBe(2);
    await world.until('all three are told', () => b.grants.length === 2 && c.grants.length === 1);
    expect([...b.grants, ...c.grants].map((push) => push.request.holder)).not.toContain(
      behind.holder,
    );
    for (const { request: own } of first) await b.lock.release(own, 0);
    expect(await world.holder()).toBe(writer.holder);
  },

  async 'a writer that leaves lets the readers behind it in'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    await a.hold(reader);
    const { request: writer } = await b.queue();
    const { request: behind } = await c.queue(reader);
    await b.lock.leave(writer);
    await world.until('the reader is told', () => c.granted(behind) !== undefined);
    expect((await world.snapshot()).holders).toHaveLength(2);
  },

  async 'a writer whose process died lets the readers behind it in'(world) {
    const [a, dead, c] = [await world.client(), await world.client(), await world.client()];
    await a.hold({ ...reader, ttl: 60_000 });
    await dead.queue();
    await world.silence(3_100);
    const { request: behind } = await c.queue(reader).catch(() => ({ request: undefined }));
    expect(behind).toBeUndefined(); // it was granted at once: nobody living was before it
    expect((await world.snapshot()).holders).toHaveLength(2);
  },

  async 'a crashed reader delays a writer by its own ttl at most'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.process()];
    await a.hold({ ...reader, ttl: TTL });
    const { request } = await b.hold({ ...reader, ttl: 3 * TTL });
    const from = c.clock.monotonic();
    const wait = later(c.acquire({ wait: Infinity }));
    await world.waiting(1);
    await b.lock.release(request, 0);
    await world.pass(TTL);
    const lease = await world.finish(wait);
    expect(c.clock.monotonic() - from).toBeLessThan(atMost(world, TTL + 300));
    await lease.release();
  },

  async 'each reader has its own end: what one does to it touches no other'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request: short } = await a.hold({ ...reader, ttl: TTL });
    const { request: long } = await b.hold({ ...reader, ttl: 4 * TTL });
    const { remaining } = await a.lock.extend([{ ...short, ttl: 2 * TTL }]);
    expect(remaining).toEqual([2 * TTL]);
    expect((await world.snapshot()).remaining).toBeGreaterThan(2 * TTL);
    await b.lock.release(long, 0);
    const snapshot = await world.snapshot();
    expect(snapshot.remaining).toBeLessThanOrEqual(2 * TTL);
    expect(snapshot.holders).toMatchObject([{ holder: short.holder }]);
  },

  async 'an extension lengthens, and never shortens'(world) {
    const a = await world.client();
    const { request } = await a.hold({ ...reader, ttl: 2 * TTL });
    const [left] = (await a.lock.extend([{ ...request, ttl: 1_000 }])).remaining;
    expect(left).toBeGreaterThan(TTL);
    expect((await a.lock.extend([{ ...request, ttl: 4 * TTL }])).remaining).toEqual([4 * TTL]);
    expect((await world.snapshot()).remaining).toBeGreaterThan(3 * TTL);
  },

  async 'who is no reader any more extends nothing and gives nothing back'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request: over } = await a.hold({ ...reader, ttl: TTL });
    await b.hold({ ...reader, ttl: 3 * TTL });
    await world.pass(TTL);
    expect((await a.lock.extend([over])).remaining).toEqual(['free']);
    expect(await a.lock.release(over, 0)).toBe(false);
    expect((await world.snapshot()).holders).toHaveLength(1);
    expect((await a.lock.extend([a.request(reader)])).remaining).toEqual(['free']);
    expect(await a.lock.leave(a.request(reader))).toBe(false);
  },

  async 'a writer’s lease cannot be extended or given back as a reader’s, nor the other way'(
    world,
  ) {
    const a = await world.client();
    const { request: writer } = await a.hold();
    const asReader = { ...writer, ...reader };
    expect((await a.lock.extend([asReader])).remaining).toEqual(['taken']);
    expect(await a.lock.release(asReader, 0)).toBe(false);
    expect(await a.lock.leave(asReader)).toBe(false);
    expect(await world.holder()).toBe(writer.holder);
    await a.lock.release(writer, 0);
    const { request: shared } = await a.hold(reader);
    const asWriter = { ...shared, share: undefined };
    expect((await a.lock.extend([asWriter])).remaining).toEqual(['taken']);
    expect(await a.lock.release(asWriter, 0)).toBe(false);
    expect(await a.lock.leave(asWriter)).toBe(false);
    expect(await world.holder()).toBe(shared.holder);
  },

  async 'an acquire, a release and a leave that arrive twice have the effect of once'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold(reader);
    expect((await a.ask(request)).kind).toBe('held');
    const { request: other } = await b.hold(reader);
    expect((await world.snapshot()).holders).toHaveLength(2);
    expect(await a.lock.release(request, 0)).toBe(true);
    expect(await a.lock.release(request, 0)).toBe(false);
    expect(await a.lock.leave(request)).toBe(false);
    expect((await world.snapshot()).holders).toMatchObject([{ holder: other.holder }]);
  },

  async 'a reader has a token where the server has lost the last writer’s, and the next writer’s is above all'(
    world,
  ) {
    const a = await world.client();
    const { request, grant } = await a.hold();
    await a.lock.release(request, 0);
    await world.flush();
    await world.elapse(2);
    const lost = await a.hold({ ...reader, tokenBlock: 1 });
    expect(lost.grant.fencingToken).toBeGreaterThan(grant.fencingToken!);
    await a.lock.release(lost.request, 0);
    expect((await a.hold()).grant.fencingToken).toBeGreaterThan(lost.grant.fencingToken!);
  },

  async 'readers have one token: no writer before has a greater one, and each one after has'(
    world,
  ) {
    const a = await world.client();
    const { request, grant } = await a.hold();
    await a.lock.release(request, 0);
    const first = await a.hold(reader);
    await a.hold({ key: 'other' });
    const second = await a.hold(reader);
    const again = await a.ask(first.request);
    expect(first.grant.fencingToken).toBeGreaterThanOrEqual(grant.fencingToken!);
    expect(second.grant.fencingToken).toBe(first.grant.fencingToken);
    expect(again).toMatchObject({ kind: 'held', fencingToken: first.grant.fencingToken });
    for (const own of [first, second]) await a.lock.release(own.request, 0);
    const writer = await a.hold();
    expect(writer.grant.fencingToken).toBeGreaterThan(first.grant.fencingToken!);
    await a.lock.release(writer.request, 0);
    const third = await a.hold(reader);
    expect(third.grant.fencingToken).toBeGreaterThanOrEqual(writer.grant.fencingToken!);
  },

  async 'readers beside a lease that was exclusive have its token, whatever was granted elsewhere'(
    world,
  ) {
    const [a, b] = [await world.client(), await world.client()];
    const { request, grant } = await a.hold({ tokenBlock: 8 });
    const { request: waiting } = await b.queue({ ...reader, tokenBlock: 1 });
    await b.hold({ key: 'other' });
    const own = grant.fencingToken! + 3; // the lease was handed on three times in its process
    await a.lock.downgrade(request, own);
    await world.until('the reader is told', () => b.granted(waiting) !== undefined);
    expect(b.granted(waiting)).toMatchObject({ fencingToken: own });
    expect((await b.hold({ ...reader, tokenBlock: 1 })).grant.fencingToken).toBe(own);
  },

  async 'a reader that waited has the token of readers too, not below that of the last writer'(
    world,
  ) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold({ tokenBlock: 0 });
    const { request: first } = await b.queue({ ...reader, tokenBlock: 1 });
    await a.lock.release(request, 0);
    await world.until('it is granted', () => b.granted(first) !== undefined);
    expect(b.granted(first)!.fencingToken).toBeGreaterThan(0);
    await b.lock.release(first, 0);
    const { request: fenced, grant } = await a.hold();
    expect(grant.fencingToken).toBeGreaterThan(b.granted(first)!.fencingToken!);
    const { request: second } = await b.queue({ ...reader, tokenBlock: 1 });
    await a.lock.release(fenced, 0);
    await world.until('it is granted', () => b.granted(second) !== undefined);
    expect(b.granted(second)!.fencingToken).toBeGreaterThanOrEqual(grant.fencingToken!);
  },

  async 'a writer becomes a reader without a gap, and lets waiting readers in'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: waiting } = await b.queue(reader);
    const { request: writer } = await c.queue();
    expect(await a.lock.downgrade(request)).toBe(true);
    expect(await a.lock.downgrade(request)).toBe(true);
    await world.until('the reader is told', () => b.granted(waiting) !== undefined);
    expect(await world.snapshot()).toMatchObject({ mode: 'shared', waiting: 1 });
    expect((await a.lock.extend([{ ...request, ...reader }])).remaining).toEqual([5_000]);
    expect(await c.lock.downgrade(writer)).toBe(false);
    await a.lock.release({ ...request, ...reader }, 0);
    await b.lock.release(waiting, 0);
    expect(await world.holder()).toBe(writer.holder);
  },

  async 'a writer in the last ms of its lease becomes a reader whose lease ends, or none'(world) {
    const a = await world.client();
    const { request } = await a.hold({ ttl: TTL });
    await world.pass(TTL);
    const shared = await a.lock.downgrade(request);
    const { remaining } = await a.lock.extend([{ ...request, ...reader }]);
    expect(remaining).toEqual([shared ? TTL : 'free']);
    for (const { ttl } of await world.keys()) expect(ttl).toBeGreaterThan(0);
  },

  async 'an operator takes the lock from all readers, and each is told'(world) {
    const [a, b, c] = [await world.client(), await world.client(), await world.client()];
    const [first, second] = [await a.hold(reader), await b.hold(reader)];
    const { request: writer } = await c.queue();
    expect(await c.lock.force('k')).toBe(true);
    await world.until('both are told', () => a.forced.length + b.forced.length === 2);
    expect(a.forced).toEqual([first.request.holder]);
    expect((await b.lock.extend([second.request])).remaining).toEqual(['taken']);
    expect(await world.holder()).toBe(writer.holder);
  },

  async 'an operator who names the readers that were seen takes nothing once one came, went or writes'(
    world,
  ) {
    const [a, b] = [await world.client(), await world.client()];
    const { request: first } = await a.hold(reader);
    const { sight: one } = await world.snapshot();
    const { request: second } = await b.hold(reader);
    const { sight: two } = await world.snapshot();
    expect(await a.lock.force('k', undefined, one)).toBe('another');
    expect((await world.snapshot()).holders).toHaveLength(2);
    await b.lock.release(second, 0);
    expect(await a.lock.force('k', undefined, two)).toBe('another');
    await a.lock.extend([{ ...first, ttl: 3 * TTL }]);
    expect((await world.snapshot()).sight).toBe(one);
    await a.lock.release(first, 0);
    const { request: writer } = await b.hold();
    expect(await a.lock.force('k', undefined, one)).toBe('another');
    expect(await world.holder()).toBe(writer.holder);
  },

  async 'readers that were flushed away hold nothing, also when others read again'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold(reader);
    await world.flush();
    await b.hold(reader);
    expect((await a.lock.extend([request])).remaining).toEqual(['free']);
    expect((await world.snapshot()).holders).toHaveLength(1);
  },

  async 'every key has an end, and after the last lease only tokens are left'(world) {
    const a = await world.client();
    const readers = [await a.hold(reader), await a.hold({ ...reader, ttl: 9_000 })];
    for (const { ttl } of await world.keys()) expect(ttl).toBeGreaterThan(0);
    for (const { request } of readers) await a.lock.release(request, 0);
    expect((await world.keys()).filter(({ name }) => !/fence|version|seen/.test(name))).toEqual([]);
  },

  async 'a lease that was exclusive is held on as a shared one'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire();
    const token = lease.fencingToken;
    const wait = b.acquire({ mode: 'shared' });
    await world.waiting(1);
    await lease.downgrade();
    await lease.downgrade();
    const other = await world.finish(wait);
    expect([lease.held, other.held, lease.fencingToken]).toEqual([true, true, token]);
    await lease.extend('8s');
    expect(await lease.release()).toBe(true);
    expect(await other.release()).toBe(true);
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'who waits behind a writer of its own process comes when it has become a reader'(world) {
    const a = await world.process();
    const lease = await a.acquire();
    const [writer, shared] = [a.acquire(), a.acquire({ mode: 'shared' })];
    await world.elapse(1);
    await lease.downgrade();
    await lease.release();
    const first = await world.finish(Promise.race([writer, shared]));
    await first.release();
    for (const next of [await world.finish(writer), await world.finish(shared)])
      await next.release();
    await world.until('nothing is left', async () => (await world.snapshot()).type === 'none');
  },

  async 'a lease that is held more than once, by re-entry, stays exclusive'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const lease = await a.acquire();
    await lease.run(async () => {
      const inner = await a.acquire();
      for (const each of [lease, inner]) {
        await expect(each.downgrade()).rejects.toThrow(LockOptionsError);
        await expect(each.downgrade()).rejects.toThrow('held more than once, by re-entry');
      }
      expect((await b.try(b.request(reader))).kind).toBe('busy');
      expect([lease.held, inner.held]).toEqual([true, true]);
      await inner.release();
    });
    await lease.downgrade();
    const { request } = await b.hold(reader);
    await b.lock.release(request, 0);
    expect(await lease.release()).toBe(true);
  },

  async 'a lease that is extended, or renewed, before its downgrade runs is held on'(world) {
    for (const extended of [true, false]) {
      const asked = new Gate();
      const overtaken: Wrap = (store) =>
        withSteps(store, {
          downgrade: async (...operands) => {
            await asked.opened;
            return store.downgrade(...operands);
          },
          extend: async (requests) => {
            const answer = await store.extend(requests);
            asked.open();
            return answer;
          },
        });
      const a = await world.process({ ttl: TTL }, overtaken);
      const lease = await a.acquire();
      const steps = [later(lease.downgrade())];
      if (extended) steps.push(later(lease.extend()));
      else await world.pass(TTL / 3 + 100);
      await world.finish(Promise.all(steps));
      expect(lease.held).toBe(true);
      expect((await world.snapshot()).mode).toBe('shared');
      expect(await lease.release()).toBe(true);
    }
  },

  async 'who enters a lock again is never given it shared when it wants it alone'(world) {
    const a = await world.process();
    const lease = await a.acquire();
    await lease.run(async () => {
      const again = a.acquire(); // has it from here on
      await expect(lease.downgrade()).rejects.toThrow('held more than once, by re-entry');
      const first = await again;
      const next = later(a.acquire());
      await world.elapse(1); // it waits for its turn
      const released = first.release();
      const became = lease.downgrade();
      await expect(world.finish(next)).rejects.toThrow(LockUpgradeError);
      await became;
      expect(await released).toBe(true);
      const reader = await a.acquire({ mode: 'shared' });
      expect([lease.held, reader.held]).toEqual([true, true]);
      await reader.release();
    });
    expect(await lease.release()).toBe(true);
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'a lease that was given back while its downgrade was refused is held by nobody'(world) {
    const refused: Wrap = (store) =>
      withSteps(store, {
        downgrade: () =>
          Promise.reject(new LockStoreError('Out of memory.', { outcome: 'refused' })),
      });
    const a = await world.process({ ttl: 60_000 }, refused);
    const lease = await a.acquire();
    const downgraded = later(lease.downgrade());
    await lease.release();
    await expect(downgraded).rejects.toThrow(LockStoreError);
    await world.until('the lock is free', async () => (await world.snapshot()).type === 'none');
    expect(a.locks.load).toMatchObject({ held: 0, watched: 0 });
  },

  async 'a downgrade whose answer is lost is a loss, and leaves nothing'(world) {
    const unanswered: Wrap = (store) =>
      withSteps(store, {
        downgrade: async (request) => {
          await store.downgrade(request);
          throw new LockStoreError('The answer was lost.', { outcome: 'unknown' });
        },
      });
    const process = await world.process({ ttl: 60_000 }, unanswered);
    const lease = await process.acquire();
    await expect(lease.downgrade()).rejects.toThrow(LeaseLostError);
    expect(lease.held).toBe(false);
    await world.until('the lock is free', async () => (await world.snapshot()).type === 'none');
  },

  async 'of a lease on several locks none becomes shared where one is held more than once'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const call = callSettings({}, a.settings.call);
    const lease = await a.locks.acquire(['x', 'y'], call);
    await lease.run(async () => {
      const inner = await a.acquire({ key: 'y' });
      await expect(lease.downgrade()).rejects.toThrow(LockOptionsError);
      expect((await b.try(b.request({ ...reader, key: 'x' }))).kind).toBe('busy');
      await inner.release();
    });
    await lease.downgrade();
    await b.hold({ ...reader, key: 'x' });
    expect(await lease.release()).toBe(true);
  },

  async 'who lost its lease cannot make it a shared one'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const lease = await a.acquire({ renew: false });
    await b.lock.force('k');
    await expect(lease.downgrade()).rejects.toThrow(LeaseLostError);
    expect(lease.held).toBe(false);
  },

  async 'readers and writers of several processes never overlap, and nobody starves'(world) {
    const chance = random(7);
    const recorder = new HistoryRecorder(() => world.clock.monotonic());
    const processes = [
      await world.process({}, recorder.watch),
      await world.process({}, recorder.watch),
      await world.process({}, recorder.watch),
    ];
    const callers = processes.flatMap((process) => [1, 2, 3, 4].map(() => process));
    const all = callers.map(async (process) => {
      for (let section = 0; section < 10; section += 1) {
        const mode = chance() < 0.6 ? 'shared' : 'exclusive';
        await recorder.run(process, { mode }, () => world.elapse(Math.floor(chance() * 3)));
      }
    });
    await world.finish(Promise.all(all));
    checkHistory(recorder.history, { sections: 120 });
    expect(recorder.history.some(({ beside }) => beside)).toBe(true);
  },
};

export const sharedModeOnRedis: Contract = {
  async 'a foreign plain client is refused while readers hold'(world) {
    const { control, prefix } = world.redis!;
    const a = await world.client();
    const { request } = await a.hold(reader);
    const take = (): Promise<unknown> => control.set(`${prefix}k`, 'foreign', 'PX', 1_000, 'NX');
    expect(await take()).toBeNull();
    await a.lock.release(request, 0);
    expect(await take()).toBe('OK');
    expect((await a.try(a.request(reader))).kind).toBe('busy');
  },

  async 'a writer whose lease an operator made last for ever becomes a reader whose lease ends'(
    world,
  ) {
    const [a, b] = [await world.client(), await world.client()];
    for (const waits of [false, true]) {
      const { request } = await a.hold({ ttl: TTL });
      const waiting = waits ? [(await b.queue()).request] : [];
      await persist(world);
      expect(await a.lock.downgrade(request)).toBe(true);
      const snapshot = await world.snapshot();
      expect(snapshot).toMatchObject({ mode: 'shared', holder: request.holder, waiting: +waits });
      const own = (await world.keys()).filter(({ name }) => /k$|holders$/.test(name));
      expect(own).toHaveLength(2);
      for (const { ttl } of own) expect(ttl).toBeGreaterThan(0);
      expect((await a.lock.extend([{ ...request, ...reader }])).remaining).toEqual([TTL]);
      expect(await a.lock.release({ ...request, ...reader }, 0)).toBe(true);
      for (const writer of waiting) await world.told(b, writer);
    }
  },

  async 'who extends a short lease beside a longer one cuts nothing off where an operator made both last for ever'(
    world,
  ) {
    const [a, b] = [await world.client(), await world.client()];
    for (const share of [READER, { permits: 5, count: 2 }]) {
      const key = `of ${share.permits}`;
      const { request: long } = await a.hold({ key, share, ttl: 4 * TTL });
      const { request: short } = await b.hold({ key, share, ttl: TTL });
      await persist(world);
      expect((await b.lock.extend([{ ...short, ttl: 2 * TTL }])).remaining).toEqual([2 * TTL]);
      expect((await world.snapshot(key)).remaining).toBeGreaterThan(3 * TTL);
      expect(await b.lock.release(short, 0)).toBe(true);
      expect(await a.lock.release(long, 0)).toBe(true);
    }
  },
};

/** An operator runs PERSIST on whatever there is. */
async function persist({ redis }: World): Promise<void> {
  const { control } = redis!;
  for (const key of await control.keys('*')) await control.persist(key);
}
