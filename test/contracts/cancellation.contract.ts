import { expect } from '@jest/globals';
import {
  LockNotAcquiredError,
  LockShutdownError,
  LockStoreError,
} from '../../lib/engine/errors/index.js';
import { atMost } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { expectNothingLeft } from '../support/nothing-left.js';
import { withSteps, type Wrap } from '../support/world.js';

export const cancellation: Contract = {
  async 'who left the queue is not served'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: leaver } = await b.queue();
    const { request: stays } = await b.queue();
    expect(await b.lock.leave(leaver)).toBe(false);
    await a.lock.release(request, 0);
    await world.until('who stays is told', () => b.granted(stays) !== undefined);
    expect(b.granted(leaver)).toBeUndefined();
  },

  async 'who leaves when the lock was granted meanwhile gives it to the next'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: leaver } = await b.queue();
    const { request: next } = await b.queue();
    await a.lock.release(request, 0);
    expect(await b.lock.leave(leaver)).toBe(true);
    expect(await world.holder()).toBe(next.holder);
    await world.until('the next is told', () => b.granted(next) !== undefined);
  },

  async 'the last to leave leaves nothing'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: leaver } = await b.queue();
    await a.lock.release(request, 0);
    await b.lock.leave(leaver);
    expect((await world.snapshot()).type).toBe('none');
    expect((await b.try(b.request())).kind).toBe('held');
  },

  async 'an aborted wait rejects at once with its reason and leaves nothing'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire();
    const controller = new AbortController();
    const wait = b.acquire({ signal: controller.signal });
    await world.waiting(1);
    const reason = new Error('enough');
    controller.abort(reason);
    let told: unknown;
    wait.catch((error: unknown) => (told = error));
    await Promise.resolve();
    await Promise.resolve();
    expect(told).toBe(reason);
    await world.waiting(0);
    await lease.release();
    await expectNothingLeft(world);
    expect(b.locks.load).toEqual({ held: 0, waiting: 0, leaving: 0, watched: 0 });
  },

  async 'whenever a call is aborted, it leaves nothing'(world) {
    const [a, b] = [await world.process(), await world.process()];
    for (let round = 0; round < 20; round += 1) {
      const lease = await a.acquire();
      const controller = new AbortController();
      const wait = b.acquire({ signal: controller.signal }).then(
        (successor) => successor.release(),
        () => {},
      );
      const released = round % 2 === 0 ? lease.release() : undefined;
      for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
      controller.abort();
      await world.finish(Promise.all([wait, released, lease.release()]));
      await expectNothingLeft(world);
    }
  },

  async 'a wait that is over is an error, and leaves nothing'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire();
    const from = world.clock.monotonic();
    const error: unknown = await world
      .finish(b.acquire({ wait: 120 }))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockNotAcquiredError);
    const waited = world.clock.monotonic() - from;
    const said = (error as LockNotAcquiredError).waited;
    expect((error as Error).message).toContain('was not acquired within 120 ms: others');
    expect(Number.isInteger(said)).toBe(true);
    expect(said).toBeGreaterThanOrEqual(119);
    expect(said).toBeLessThanOrEqual(waited + 1);
    expect(waited).toBeGreaterThanOrEqual(119);
    expect(waited).toBeLessThan(atMost(world, 150));
    await lease.release();
    await expectNothingLeft(world);
  },

  async 'who asks once is answered at once, and leaves nothing'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire();
    await expect(b.acquire({ wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect((await world.snapshot()).waiting).toBe(0);
    await lease.release();
    await expectNothingLeft(world);
  },

  async 'an acquire that arrives after its caller’s patience changes nothing'(world) {
    const a = await world.client({ commandTimeout: 300 });
    const warmUp = a.request({ key: 'warm-up' });
    await world.until('the server knows the script', async () => {
      const answer = await a.try(warmUp).catch(() => undefined); // late, on a busy machine
      return answer?.kind === 'held';
    });
    await world.pause();
    const late = [a.ask(a.request()), a.try(a.request({ key: 'k2' }))].map(later);
    for (const answer of late) {
      await expect(world.finish(answer)).rejects.toMatchObject({
        code: 'LOCK_STORE',
        outcome: 'unknown',
      });
    }
    await world.elapse(60);
    await world.resume();
    expect(await world.snapshot('k')).toMatchObject({ type: 'none', waiting: 0 });
    expect(await world.snapshot('k2')).toMatchObject({ type: 'none' });
  },

  async 'an entry that is asked for after its caller’s patience is not queued'(world) {
    const [a, b] = [await world.client(), await world.client({ commandTimeout: 100 })];
    const { request } = await a.hold();
    await a.ask(a.request({ key: 'another' }), { enqueuedAt: '1' });
    await world.pause();
    // A first ask may look for a free lock only. This one is a further one, of a script that the server knows.
    const again = b.ask(b.request(), { enqueuedAt: '1' });
    await expect(world.finish(again)).rejects.toThrow(LockStoreError);
    await world.elapse(60);
    await world.resume();
    expect(await world.snapshot()).toMatchObject({ holder: request.holder, waiting: 0 });
  },

  async 'who gives up before the answer came leaves again when nothing can arrive any more'(world) {
    const commandTimeout = world.redis ? 3_000 : 300; // a busy machine's ask reaches the server in time
    const leaves: number[] = [];
    const process = await world.process({ commandTimeout }, (store, clock) =>
      withSteps(store, {
        acquire: async (ask) => {
          await store.acquire(ask);
          throw new LockStoreError('The answer was lost.', { outcome: 'unknown' });
        },
        leave: (request, served) => {
          leaves.push(clock.monotonic());
          return store.leave(request, served);
        },
      }),
    );
    const from = world.clock.monotonic();
    const controller = new AbortController();
    void later(process.acquire({ signal: controller.signal }));
    await world.until('the server has granted it', async () => (await world.holder()) !== '');
    controller.abort();
    await world.until('the process is done with it', () => process.locks.load.leaving === 0);
    expect(leaves.length).toBeGreaterThanOrEqual(2);
    expect(leaves.at(-1)! - from).toBeGreaterThanOrEqual(commandTimeout);
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'what was granted to a caller that had given up is kept for no minimum hold'(world) {
    const free = (): Promise<void> =>
      world.until('it is free', async () => (await world.snapshot()).type === 'none');
    const [a, b] = [await world.process(), await world.client()];
    for (const first of ['grant', 'abort'] as const) {
      const { request } = await b.hold();
      const controller = new AbortController();
      const wait = later(a.acquire({ minHold: '20s', signal: controller.signal }));
      await world.elapse(50);
      if (first === 'abort') controller.abort(new RangeError('enough'));
      const released = b.lock.release(request, 0);
      if (first === 'grant') controller.abort(new RangeError('enough')); // the push is on its way, or behind
      await expect(world.finish(wait)).rejects.toThrow('enough');
      await released;
      await free();
    }
    let lost = false;
    const process = await world.process({ commandTimeout: 300 }, (store) =>
      withSteps(store, {
        acquire: async (ask) => {
          await store.acquire(ask);
          lost = true;
          throw new LockStoreError('The answer was lost.', { outcome: 'unknown' });
        },
      }),
    );
    const controller = new AbortController();
    void later(process.acquire({ minHold: '20s', signal: controller.signal }));
    await world.until('the server has granted it', async () => lost);
    controller.abort();
    await world.until('the process is done with it', () => process.locks.load.leaving === 0);
    await free();
  },

  async 'a holder id that was given up is never sent again'(world) {
    const gone = new Set<string>();
    const zombies: string[] = [];
    const watched: Wrap = (store) =>
      withSteps(store, {
        acquire: (ask) => {
          if (gone.has(ask.holder)) zombies.push(ask.holder);
          if (ask.former) gone.add(ask.former.holder);
          return store.acquire(ask);
        },
        release: (request, keep, served) => {
          gone.add(request.holder);
          return store.release(request, keep, served);
        },
        leave: (request, served) => {
          gone.add(request.holder);
          return store.leave(request, served);
        },
      });
    const processes = [await world.process({}, watched), await world.process({}, watched)];
    const calls = Array.from({ length: 80 }, async (_, at) => {
      const signal = at % 3 === 0 ? AbortSignal.abort() : undefined;
      const controller = new AbortController();
      const key = `k${at % 7}`;
      const call = processes[at % 2]!.acquire({ key, signal: signal ?? controller.signal });
      if (at % 4 === 1) controller.abort();
      await call.then(
        (lease) => lease.release(),
        () => {},
      );
    });
    await world.finish(Promise.all(calls));
    expect(gone.size).toBeGreaterThan(10);
    expect(zombies).toEqual([]);
    await expectNothingLeft(world);
  },

  async 'a process that shuts down gives back what it holds and leaves its queues'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const mine = await b.acquire({ key: 'mine' });
    const lease = await a.acquire();
    const wait = later(b.acquire());
    await world.waiting(1);
    await world.finish(b.locks.close());
    await expect(wait).rejects.toThrow(LockShutdownError);
    await expect(b.acquire()).rejects.toThrow(LockShutdownError);
    expect(mine.held).toBe(false);
    expect(mine.signal.reason).toMatchObject({ reason: 'shutdown' });
    await lease.release();
    await expectNothingLeft(world);
  },

  async 'every key has an end, whatever happened to the lock'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const deaf = await world.client({ deaf: true });
    const ends = async (): Promise<void> => {
      for (const { name, ttl } of await world.keys()) {
        if (ttl < 0) throw new Error(`${name} has no end.`);
      }
    };
    const { request } = await a.hold();
    await ends();
    const { request: first } = await b.queue();
    const { request: unheard } = await deaf.queue();
    await ends();
    await a.lock.extend([request]);
    await a.lock.release(request, 0);
    await ends();
    await b.lock.release(first, 0); // nobody hears: the entry stays, the lock is free
    await ends();
    expect((await world.snapshot()).waiting).toBe(world.hearsItself ? 1 : 0);
    await deaf.ask(unheard);
    await ends();
    await deaf.lock.release(unheard, 5_000);
    await ends();
    await b.queue();
    await ends();
    await b.lock.force('k');
    await ends();
  },
};

export const cancellationOnRedis: Contract = {
  async 'who has given up is not asked for in full when the server forgot the script'(world) {
    const a = await world.client();
    await world.redis!.control.script('FLUSH');
    await expect(a.ask(a.request(), { wanted: () => false })).rejects.toMatchObject({
      code: 'LOCK_STORE',
      outcome: 'unsent',
    });
    expect((await world.snapshot()).type).toBe('none');
  },
};
