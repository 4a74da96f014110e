import { expect } from '@jest/globals';
import {
  LeaseLostError,
  LockKeyError,
  LockOptionsError,
  LockStoreError,
} from '../../lib/engine/errors/index.js';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import { KEPT } from '../../lib/engine/protocol/constants.js';
import { atMost, POLL, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { Gate } from '../support/gate.js';
import { later } from '../support/later.js';
import { type LockingProcess, withSteps, type World } from '../support/world.js';

const SEATS = ['A1', 'A2', 'A3'];

export const handOverSeveral: Contract = {
  async 'a lease on several locks goes on in the process that restores it, under its tokens'(
    world,
  ) {
    const [a, b] = [await world.process(), await world.process()];
    const given = await a.acquire({ key: SEATS });
    const { signal } = given;
    const tokens = SEATS.map((key) => given.fencingTokenOf(key));
    const text = given.handOver();
    expect(given.held).toBe(false);
    await text;
    expect([given.handedOver, signal.aborted]).toEqual([true, true]);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'transferred' });
    expect(await taken(world)).toEqual(SEATS);
    const restored = await restore(b, await text);
    expect(restored).toMatchObject({ keys: SEATS, held: true });
    expect(SEATS.map((key) => restored.fencingTokenOf(key))).toEqual(tokens);
    expect(await given.release()).toBe(false);
    expect(await restored.release()).toBe(true);
    expect(await taken(world)).toEqual([]);
  },

  async 'it is handed on again, and who restored it renews all of it'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    const text = await (await a.acquire({ key: SEATS, ttl: TTL })).handOver();
    const restored = await restore(b, text);
    await world.renewed(b, TTL, 6);
    expect(restored.held).toBe(true);
    const again = await restore(c, await restored.handOver());
    expect([restored.held, again.held]).toEqual([false, true]);
    expect(await again.release()).toBe(true);
    expect(await taken(world)).toEqual([]);
  },

  async 'of many who restore or discard it, one has all of it, and the others nothing'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    for (let time = 0; time < 5; time += 1) {
      const text = await (await a.acquire({ key: SEATS })).handOver();
      const restores = [b, c, a].map((process) => restore(process, text));
      const discards = [c, b].map((process) => discard(process, text));
      const restored = (await Promise.allSettled(restores)).flatMap((outcome) =>
        outcome.status === 'fulfilled' ? [outcome.value] : [],
      );
      const discarded = (await Promise.all(discards)).filter(Boolean);
      expect(restored.length + discarded.length).toBe(1);
      for (const lease of restored) {
        expect([lease.held, await lease.release()]).toEqual([true, true]);
      }
      await untilFree(world);
    }
  },

  async 'of two who discard it at once, who gave back its first lock is told so'(world) {
    const [a, c] = [await world.process(), await world.process()];
    const [begun, goesOn] = [new Gate(), new Gate()];
    const b = await world.process({}, (store) =>
      withSteps(store, {
        leave: async (request) => {
          if (request.key !== 'A1') {
            begun.open();
            await goesOn.opened;
          }
          return store.leave(request);
        },
      }),
    );
    const text = await (await a.acquire({ key: SEATS, ttl: 60_000 })).handOver();
    const first = later(discard(b, text));
    await world.finish(begun.opened);
    expect(await discard(c, text)).toBe(false);
    goesOn.open();
    expect(await world.finish(first)).toBe(true);
    await untilFree(world);
  },

  async 'it ends after its ttl if nobody restores it'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const text = await (await a.acquire({ key: SEATS, ttl: TTL })).handOver();
    await world.pass(TTL);
    await untilFree(world);
    await expect(restore(b, text)).rejects.toThrow(LeaseLostError);
    expect(await discard(b, text)).toBe(false);
  },

  async 'where one of its locks was freed by force, the rest is given back'(world) {
    const [a, b] = [await world.process(), await world.process()];
    for (const key of SEATS.slice(1)) {
      const text = await (await a.acquire({ key: SEATS })).handOver();
      await b.locks.force(key);
      await expect(restore(b, text)).rejects.toThrow(LeaseLostError);
      await untilFree(world);
      expect(b.locks.load.held).toBe(0);
    }
  },

  async 'where the first of its locks is gone, free or to another caller, the rest is given back'(
    world,
  ) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    for (const way of [restore, discard]) {
      for (const isWanted of [false, true]) {
        const text = await (await a.acquire({ key: SEATS, ttl: 60_000 })).handOver();
        const next = isWanted ? later(c.acquire({ key: 'A1' })) : undefined;
        await world.waiting(isWanted ? 1 : 0, 'A1');
        await b.locks.force('A1');
        await (next && world.finish(next));
        const told = later<unknown>(way(b, text)).catch((error: unknown) => error);
        expect(await told).toEqual(way === restore ? expect.any(LeaseLostError) : false);
        await untilFree(world, SEATS.slice(1));
        expect(await taken(world)).toEqual(isWanted ? ['A1'] : []);
        await (await next)?.release();
      }
    }
  },

  async 'where one of its locks is lost while the others come, all are given back'(world) {
    const [a, c] = [await world.process(), await world.process()];
    const b: LockingProcess = await world.process({}, (store) =>
      withSteps(store, {
        transfer: async (request, successor) => {
          if (request.key === 'A2') {
            await world.until('the others came', () => b.locks.load.held === 2);
            await c.locks.force('A1');
            await world.until('it is lost', () => b.locks.load.held === 1);
          }
          return store.transfer(request, successor);
        },
      }),
    );
    const text = await (await a.acquire({ key: SEATS, ttl: 60_000 })).handOver();
    let outcome: unknown;
    later(restore(b, text)).then(
      (lease) => (outcome = lease),
      (error: unknown) => (outcome = error),
    );
    await world.until('it is told', () => outcome !== undefined);
    expect(outcome).toMatchObject({ code: 'LEASE_LOST', reason: 'forced' });
    await untilFree(world);
  },

  async 'who hears nothing of some of them gives up after twice the time-out of a command'(world) {
    const [a, commandTimeout] = [await world.process(), 1_000];
    let asked = 0;
    const b = await world.process({ commandTimeout }, (store, clock) => {
      const timedOut = (): Promise<never> =>
        new Promise((_, reject) => clock.after(commandTimeout, () => reject(lost())));
      return withSteps(store, {
        transfer: (request, successor) => {
          const isHeard = request.key === 'A1' && (asked += 1) > 1;
          return isHeard ? store.transfer(request, successor) : timedOut();
        },
        release: timedOut,
      });
    });
    const text = await (await a.acquire({ key: SEATS, ttl: 60_000 })).handOver();
    const from = b.clock.monotonic();
    await expect(world.finish(later(restore(b, text)))).rejects.toThrow(LockStoreError);
    expect(b.clock.monotonic() - from).toBeLessThan(atMost(world, 2.2 * commandTimeout));
  },

  async 'a restore that hears nothing leaves the rest of a minimum hold'(world) {
    const a = await world.process();
    const b = await world.process({ commandTimeout: timeout(world) }, (store) =>
      withSteps(store, {
        transfer: async (...requests) => {
          await store.transfer(...requests);
          throw lost();
        },
      }),
    );
    const text = await (await a.acquire({ key: SEATS, ttl: 60_000, minHold: 50_000 })).handOver();
    await expect(world.finish(later(restore(b, text)))).rejects.toThrow(LockStoreError);
    await world.until('it has given up', () => b.locks.load.leaving === 0);
    for (const key of SEATS) expect(await world.holder(key)).toBe(KEPT);
  },

  async 'who has its first lock goes on with the others, whoever else wants it meanwhile'(world) {
    for (const fencing of [true, false]) {
      const [a, c] = [await world.process(), await world.process()];
      const [asked, answers] = [new Gate(), new Gate()];
      const b = await world.process({ commandTimeout: 20_000 }, (store) =>
        withSteps(store, {
          transfer: async (request, successor) => {
            if (request.key !== 'A1') {
              asked.open();
              await answers.opened;
            }
            return store.transfer(request, successor);
          },
        }),
      );
      const text = await (await a.acquire({ key: SEATS, ttl: 60_000, fencing })).handOver();
      const restored = later(restore(b, text));
      await asked.opened;
      await expect(restore(c, text)).rejects.toThrow(LeaseLostError);
      expect(await discard(c, text)).toBe(false);
      await world.until('it has given up', () => c.locks.load.leaving === 0);
      answers.open();
      expect(await (await world.finish(restored)).release()).toBe(true);
      await untilFree(world);
    }
  },

  async 'a process that closes waits for a discard under way'(world) {
    const [asked, answers] = [new Gate(), new Gate()];
    const a = await world.process();
    const b = await world.process({ shutdownGrace: 0 }, (store) =>
      withSteps(store, {
        leave: async (request, others) => {
          asked.open();
          return answers.after(store.leave(request, others));
        },
      }),
    );
    const text = await (await a.acquire({ key: SEATS, ttl: 60_000 })).handOver();
    const discarded = later(discard(b, text));
    await asked.opened;
    const closed = later(b.locks.drain().then(() => b.locks.close()));
    await world.elapse(20);
    answers.open();
    expect(await world.finish(discarded)).toBe(true);
    await world.finish(closed);
    expect(await taken(world)).toEqual([]);
  },

  async 'a process that closes gives back what of a hand-over under way is confirmed'(world) {
    const [asked, answers, left] = [new Gate(), new Gate(), new Gate()];
    const a = await world.process({ shutdownGrace: 0 }, (store) =>
      withSteps(store, {
        transfer: async (request, successor) => {
          if (request.key !== 'A2') return store.transfer(request, successor);
          asked.open();
          await answers.opened;
          throw lost();
        },
        leave: async (request) => {
          if (request.key === 'A1') await left.opened;
          return store.leave(request);
        },
      }),
    );
    const text = later((await a.acquire({ key: SEATS, ttl: 60_000 })).handOver());
    await asked.opened;
    const closed = later(a.locks.drain().then(() => a.locks.close()));
    await world.elapse(20);
    answers.open();
    if (!world.redis) {
      await world.until('the others are free', async () => (await taken(world)).length === 1);
      await world.elapse(20); // a close waits for less than a second, which a busy machine may not have
    }
    left.open();
    await world.finish(closed);
    await expect(text).rejects.toThrow(LeaseLostError);
    expect(await taken(world)).toEqual([]);
  },

  async 'where Redis refuses one of them for good, all are given back'(world) {
    const a = await world.process();
    const b = await world.process({}, (store) =>
      withSteps(store, {
        transfer: (request, successor) =>
          request.key === 'A2'
            ? Promise.reject(
                new LockStoreError('No right.', { outcome: 'refused', retryable: false }),
              )
            : store.transfer(request, successor),
      }),
    );
    const text = await (await a.acquire({ key: SEATS, ttl: 60_000 })).handOver();
    await expect(restore(b, text)).rejects.toThrow('No right.');
    await untilFree(world);
  },

  async 'a hand-over of which Redis confirms a part is a loss, and leaves nothing'(world) {
    for (const outcome of ['unsent', 'unknown'] as const) {
      const a = await failing(world, 'transfer', 'A2', outcome);
      const lease = await a.acquire({ key: SEATS });
      await expect(lease.handOver()).rejects.toMatchObject({ reason: 'unconfirmed' });
      expect(lease.held).toBe(false);
      await untilFree(world);
      expect(a.locks.load).toMatchObject({ held: 0, watched: 0 });
    }
  },

  async 'a discard of which Redis fails a part gives back all of it'(world) {
    const a = await world.process();
    for (const outcome of ['unsent', 'refused', 'unknown'] as const) {
      const b = await failing(world, 'leave', 'A2', outcome);
      const text = await (await a.acquire({ key: SEATS, ttl: 60_000 })).handOver();
      await expect(discard(b, text)).rejects.toThrow(LockStoreError);
      await untilFree(world);
    }
  },

  async 'a restore that hears nothing gives back all, or leaves all to who tries again'(world) {
    const a = await world.process();
    for (const isDone of [true, false]) {
      let answers = false;
      const b = await world.process({ commandTimeout: timeout(world) }, (store) =>
        withSteps(store, {
          transfer: async (...requests) => {
            if (isDone) await store.transfer(...requests);
            throw lost();
          },
          leave: async (...requests) => {
            const wasHeld = await store.leave(...requests);
            if (answers) return wasHeld;
            answers = true;
            throw lost();
          },
        }),
      );
      const text = await (await a.acquire({ key: SEATS, ttl: 10 * TTL })).handOver();
      await expect(world.finish(later(restore(b, text)))).rejects.toThrow(LockStoreError);
      await world.until('it has given up', () => b.locks.load.leaving === 0);
      if (!isDone) expect(await (await restore(a, text)).release()).toBe(true);
      expect(await taken(world)).toEqual([]);
    }
  },

  async 'what was extended before is given back however long Redis was away'(world) {
    const a = await world.process();
    for (const way of ['discard', 'restore', 'handOver'] as const) {
      let away = true;
      const b = await world.process({ commandTimeout: timeout(world) }, (store) =>
        withSteps(store, {
          transfer: async (request, successor) => {
            const answer = await store.transfer(request, successor);
            if (away && (way === 'restore' || request.key === 'A2')) throw lost();
            return answer;
          },
          leave: (...requests) => (away ? Promise.reject(lost()) : store.leave(...requests)),
        }),
      );
      const lease = await (way === 'handOver' ? b : a).acquire({ key: SEATS, ttl: TTL });
      await lease.extend(10 * TTL);
      const text = later(lease.handOver());
      const failure = { handOver: () => text, restore, discard }[way](b, await text.catch(String));
      const code = way === 'handOver' ? 'LEASE_LOST' : 'LOCK_STORE';
      await expect(world.finish(later<unknown>(failure))).rejects.toMatchObject({ code });
      await world.pass(2 * TTL);
      away = false;
      await untilFree(world);
    }
  },

  async 'a hand-over of which nothing happened changes nothing'(world) {
    const b = await world.process();
    let fails = true;
    const a = await world.process({}, (store) =>
      withSteps(store, {
        transfer: (...requests) =>
          fails
            ? Promise.reject(new LockStoreError('It was not sent.', { outcome: 'unsent' }))
            : store.transfer(...requests),
      }),
    );
    const lease = await a.acquire({ key: SEATS });
    await expect(lease.handOver()).rejects.toThrow(LockStoreError);
    expect([lease.held, lease.signal.aborted]).toEqual([true, false]);
    fails = false;
    const restored = await restore(b, await lease.handOver());
    expect(await restored.release()).toBe(true);
  },

  async 'one of its locks that is held more than once, or shared, stays with the others'(world) {
    const a = await world.process();
    const outer = await a.acquire({ key: 'A2' });
    await outer.run(async () => {
      const lease = await a.acquire({ key: SEATS });
      await expect(lease.handOver()).rejects.toThrow(LockOptionsError);
      expect(lease.held).toBe(true);
      await lease.release();
    });
    await outer.release();
  },
};

export const discarding: Contract = {
  async 'a lease on its way that is discarded is free at once, and the next caller has it'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    const given = await a.acquire();
    const waits = [later(a.acquire())]; // in the process that gave it away
    await world.waiting(1);
    waits.push(later(c.acquire()));
    await world.waiting(2);
    const text = await given.handOver();
    const from = world.clock.monotonic();
    expect(await discard(b, text)).toBe(true);
    await world.finish(Promise.all(waits.map(async (wait) => (await wait).release())));
    expect(world.clock.monotonic() - from).toBeLessThan(atMost(world, POLL / 10)); // they are told, and need not ask
    expect(await discard(a, text)).toBe(false);
    await expect(restore(b, text)).rejects.toThrow(LeaseLostError);
  },

  async 'what was restored is not discarded'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const text = await (await a.acquire()).handOver();
    const lease = await restore(b, text);
    expect(await discard(a, text)).toBe(false);
    await lease.extend();
    expect(await lease.release()).toBe(true);
  },

  async 'the rest of a minimum hold keeps it taken'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const text = await (await a.acquire({ minHold: TTL })).handOver();
    expect(await discard(b, text)).toBe(true);
    expect(await world.holder()).toBe(KEPT);
    await world.pass(TTL);
    await untilFree(world, ['k']);
  },

  async 'what Redis does not confirm is given back as soon as it does'(world) {
    const a = await world.process();
    for (const outcome of ['unsent', 'refused', 'unknown'] as const) {
      const b = await failing(world, 'leave', 'k', outcome);
      const text = await (await a.acquire({ ttl: 60_000 })).handOver();
      await expect(discard(b, text)).rejects.toThrow(LockStoreError);
      await untilFree(world, ['k']);
      expect(await discard(b, text)).toBe(false);
    }
  },

  async 'a text of another origin is refused'(world) {
    const a = await world.process();
    expect(() => discard(a, 'k')).toThrow(LockKeyError);
  },
};

function restore(process: LockingProcess, text: string): Promise<Lease> {
  return process.locks.restore(readHandOver(text));
}

function discard(process: LockingProcess, text: string): Promise<boolean> {
  return process.locks.discard(readHandOver(text));
}

/** The locks of these that somebody has. */
async function taken(world: World, keys: readonly string[] = SEATS): Promise<string[]> {
  const types = await Promise.all(keys.map(async (key) => (await world.snapshot(key)).type));
  return keys.filter((_, nth) => types[nth] !== 'none');
}

async function untilFree(world: World, keys?: readonly string[]): Promise<void> {
  await world.until('all are free', async () => (await taken(world, keys)).length === 0);
}

/** A busy machine answers in time. */
function timeout(world: World): number {
  return world.redis ? 3_000 : 200;
}

function lost(): LockStoreError {
  return new LockStoreError('It did not answer.', { outcome: 'unknown' });
}

/** A process whose step fails for one of the locks. */
function failing(
  world: World,
  step: 'transfer' | 'leave',
  key: string,
  outcome: 'unsent' | 'refused' | 'unknown',
): Promise<LockingProcess> {
  const error = (): Promise<never> =>
    Promise.reject(new LockStoreError('It did not answer.', { key, outcome }));
  let failed = false;
  const once = <Args extends [{ key: string }, ...unknown[]], T>(
    right: (...args: Args) => Promise<T>,
  ) => {
    return (...args: Args): Promise<T> => {
      if (args[0].key !== key || failed) return right(...args);
      failed = true;
      return error();
    };
  };
  return world.process({ commandTimeout: 200 }, (store) =>
    withSteps(store, {
      [step]: once((store[step] as LockStore['transfer']).bind(store)),
    }),
  );
}
