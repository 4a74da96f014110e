import { expect } from '@jest/globals';
import {
  LeaseLostError,
  LockKeyError,
  LockOptionsError,
  LockStoreError,
} from '../../lib/engine/errors/index.js';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { withLease } from '../../lib/nest/services/run-under-lease.js';
import { entryOf } from '../../lib/engine/locks/entry.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import { READER } from '../../lib/engine/options/index.js';
import { KEPT } from '../../lib/engine/protocol/constants.js';
import { inspection } from '../../lib/engine/inspection/inspection.js';
import { atMost, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { type LockingProcess, withSteps, type World, type Wrap } from '../support/world.js';

/** It is done, and nobody hears of it. */
const unheard =
  (transfer: LockStore['transfer']): LockStore['transfer'] =>
  async (...requests) => {
    await transfer(...requests);
    throw failure('unknown');
  };

/** Nothing happens. */
const did = (outcome: 'unsent' | 'refused') => () => (): Promise<never> =>
  Promise.reject(failure(outcome));

export const handOver: Contract = {
  async 'whoever hands a lease over, or gives it back, when it hears of the end has lost nothing'(
    world,
  ) {
    for (const how of ['handOver', 'release'] as const) {
      const a = await world.process({ shutdownGrace: 0 });
      const lease = await a.acquire({ key: how });
      let done: Promise<unknown> | undefined;
      lease.signal.addEventListener('abort', () => void (done = lease[how]()));
      a.locks.takeAll();
      expect(await world.finish(done!)).toEqual(how === 'release' ? true : expect.any(String));
      expect(lease.handedOver).toBe(how === 'handOver');
      await world.finish(a.locks.close());
    }
  },

  async 'a lease on its way is seen as handed over, until a process restores it'(world) {
    const [a, b] = [await world.process(), await world.process()];
    for (const fencing of [true, false]) {
      const given = await a.acquire({ fencing });
      const seen = async () => inspection('k', await world.snapshot());
      expect(await seen()).not.toHaveProperty('handedOver');
      const text = await given.handOver();
      expect(await seen()).toMatchObject({ state: 'held', mode: 'exclusive', handedOver: true });
      expect((await seen()).fencingToken).toBe(fencing ? given.fencingToken : undefined);
      const taken = await restore(b, text);
      expect(await seen()).toMatchObject({ state: 'held', mode: 'exclusive' });
      expect(await seen()).not.toHaveProperty('handedOver');
      await taken.release();
    }
  },

  async 'the lease goes on in the process that restores it, under its token, before all who wait'(
    world,
  ) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    const given = await a.acquire();
    const { fencingToken } = given;
    const waiting = [a.acquire(), b.acquire()];
    const entries = world.fairness === 'strict' ? 2 : 1;
    await world.until('they wait', async () => (await world.snapshot()).waiting >= entries);
    const text = await given.handOver();
    const taken = await restore(c, text);
    expect(taken).toMatchObject({ key: 'k', held: true, fencingToken });
    await world.waiting(2);
    expect(await taken.release()).toBe(true);
    const served = waiting.map(async (lease) => {
      const next = await world.finish(lease);
      expect(next.fencingToken).toBeGreaterThan(fencingToken);
      expect(await next.release()).toBe(true);
    });
    await Promise.all(served);
  },

  async 'it is over where it was given away, before the text exists'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const given = await a.acquire();
    const { signal } = given;
    const text = given.handOver();
    expect(given.held).toBe(false);
    await text;
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'transferred' });
    expect(() => given.assertHeld()).toThrow('it was handed over');
    await expect(given.extend()).rejects.toThrow(LeaseLostError);
    await expect(given.handOver()).rejects.toThrow(LeaseLostError);
    const taken = await restore(b, await text);
    expect(await given.release()).toBe(false);
    await world.finish(a.locks.close());
    await taken.extend();
    expect(taken.held).toBe(true);
  },

  async 'of many who restore it, one holds it'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    const text = await (await a.acquire()).handOver();
    const attempts = [a, b, c, a, b, c].map((process) => restore(process, text));
    const outcomes = await Promise.allSettled(attempts);
    const taken = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(taken).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'taken' });
      }
    }
    await (taken[0] as PromiseFulfilledResult<Lease>).value.release();
    await expect(restore(b, text)).rejects.toMatchObject({ reason: 'expired' });
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'it is handed on again'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    const first = await a.acquire();
    const text = await first.handOver();
    const second = await restore(b, text);
    const third = await restore(c, await second.handOver());
    expect(third.fencingToken).toBe(first.fencingToken);
    expect([first, second, third].map(({ held }) => held)).toEqual([false, false, true]);
    await expect(restore(a, text)).rejects.toThrow(LeaseLostError);
    expect(await third.release()).toBe(true);
  },

  async 'it ends after its ttl if nobody restores it, and who waits comes next'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const given = await a.acquire({ ttl: TTL });
    let entered = false;
    const waiting = later(b.acquire({ wait: Infinity }).finally(() => (entered = true)));
    await world.waiting(1);
    const text = await given.handOver();
    await world.pass(TTL / 2);
    await world.asked(b);
    expect(entered).toBe(false);
    await world.pass(TTL / 2);
    const next = await world.finish(waiting);
    await expect(restore(a, text)).rejects.toMatchObject({ reason: 'taken' });
    await next.release();
  },

  async 'the time that it is on its way is as long as was asked for before'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const given = await a.acquire({ ttl: TTL });
    await given.extend(5 * TTL);
    const text = await given.handOver();
    await world.pass(2 * TTL);
    const taken = await restore(b, text);
    expect(taken.held).toBe(true);
    expect(await taken.release()).toBe(true);
  },

  async 'who restored it renews it'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const text = await (await a.acquire({ ttl: TTL })).handOver();
    const taken = await restore(b, text);
    await world.renewed(b, TTL, 6);
    expect(taken.held).toBe(true);
    expect(await taken.release()).toBe(true);
  },

  async 'a lease that is not renewed ends when it would have ended'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const given = await a.acquire({ ttl: 3 * TTL, renew: false });
    const end = given.expiresAt;
    await world.pass(2 * TTL);
    const taken = await restore(b, await given.handOver());
    expect(taken.expiresAt).toBeLessThan(end + TTL); // with a ttl of its own, twice that
    await world.pass(TTL);
    await world.until('it is lost', () => taken.signal.aborted);
    expect(b.clock.wall()).toBeLessThan(end + atMost(world, 1_000));
  },

  async 'a lease that is not renewed lasts no longer for the time that it was on its way'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const given = await a.acquire({ ttl: 3 * TTL, renew: false });
    const end = given.expiresAt;
    const text = await given.handOver();
    await world.pass(TTL);
    const taken = await restore(b, text);
    expect(taken.expiresAt).toBeLessThan(end + TTL / 2); // with the ttl that was left then, a ttl later
    await taken.release();
  },

  async 'a minimum hold goes with it'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const given = await a.acquire({ minHold: TTL });
    const taken = await restore(b, await given.handOver());
    expect(await taken.release()).toBe(true);
    expect(await world.holder()).toBe(KEPT);
    expect((await world.snapshot()).remaining).toBeLessThanOrEqual(TTL);
    await world.pass(TTL);
    await world.until('it is free', async () => (await world.snapshot()).type === 'none');
  },

  async 'the time on its way counts neither for its minimum hold nor for its longest'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const [ttl, maxHold, minHold] = [2 * TTL, 2 * TTL, 2 * TTL];
    const text = await (await a.acquire({ ttl, maxHold, minHold })).handOver();
    await world.pass(TTL);
    const taken = await restore(b, text);
    const from = b.clock.monotonic();
    await world.renewed(b, ttl);
    expect(await taken.release()).toBe(true);
    const { remaining } = await world.snapshot();
    expect(remaining + b.clock.monotonic() - from).toBeGreaterThan(1.5 * TTL);
  },

  async 'a lease without a fencing token has none afterwards'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const text = await (await a.acquire({ fencing: false })).handOver();
    const taken = await restore(b, text);
    expect(() => taken.fencingToken).toThrow(LockOptionsError);
    await taken.release();
  },

  async 'an operator who takes it tells who holds it now'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.client()];
    const taken = await restore(b, await (await a.acquire()).handOver());
    await c.lock.force('k');
    await world.until('it is lost', () => taken.signal.aborted);
    expect(taken.signal.reason).toMatchObject({ reason: 'forced' });
  },

  async 'a lease that is over is not handed over'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const lease = await a.acquire();
    await b.lock.force('k');
    await expect(lease.handOver()).rejects.toThrow(LeaseLostError);
    expect(lease.held).toBe(false);
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'an altered text fits no lock'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const text = await (await a.acquire()).handOver();
    const words = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const part = words[2] as unknown[];
    part[3] = Number(part[3]) + 1;
    const altered = Buffer.from(JSON.stringify(words)).toString('base64url');
    await expect(restore(b, altered)).rejects.toThrow(LeaseLostError);
    for (const other of ['', 'k', text.slice(1), `${text}=`, 'eyJ9', 7 as never]) {
      expect(() => readHandOver(other)).toThrow(LockKeyError);
    }
    expect((await restore(b, text)).held).toBe(true);
  },

  async 'what several hold, or one holds more than once, is not handed over'(world) {
    const a = await world.process();
    const leases = [
      await a.acquire({ key: 'shared', share: READER }),
      await a.acquire({ key: 'permits', share: { permits: 2, count: 1 } }),
    ];
    for (const lease of leases) {
      await expect(lease.handOver()).rejects.toThrow(LockOptionsError);
      expect(lease.held).toBe(true);
    }
    const outer = await a.acquire();
    await outer.run(async () => {
      const inner = await a.acquire();
      await expect(inner.handOver()).rejects.toThrow('more than once');
      await inner.release();
      await outer.handOver();
      await expect(a.acquire()).rejects.toMatchObject({ reason: 'transferred' });
    });
  },

  async 'a transfer that arrives twice has the effect of once, and a stranger’s none'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold({ ttl: 3 * TTL });
    const successor = b.request({ ttl: TTL });
    expect((await b.lock.transfer(b.request(), successor)).remaining).toBe('taken');
    for (let times = 0; times < 2; times += 1) {
      const { remaining } = await a.lock.transfer(request, successor);
      expect(remaining).toBeGreaterThan(2 * TTL); // never shortened
      expect(await world.holder()).toBe(successor.holder);
    }
    expect(await a.lock.release(request, 0)).toBe(false);
    expect((await a.lock.extend([request])).remaining).toEqual(['taken']);
    expect(await b.lock.release(successor, 0)).toBe(true);
    expect((await a.lock.transfer(request, successor)).remaining).toBe('free');
    expect((await world.snapshot()).type).toBe('none');
  },

  async 'a transfer that arrives too late changes nothing'(world) {
    const [a, b] = [await world.client({ commandTimeout: 500 }), await world.client()];
    const { request } = await a.hold();
    await b.lock.transfer(b.request({ key: 'warm-up' }), b.request());
    await world.pause();
    await expect(world.finish(a.lock.transfer(request, b.request()))).rejects.toThrow(
      LockStoreError,
    );
    await world.elapse(60);
    await world.resume();
    expect(await world.holder()).toBe(request.holder);
  },

  async 'a hand-over that Redis does not confirm is a loss, and leaves nothing'(world) {
    const a = await troubled(world, unheard);
    const lease = await a.acquire();
    await expect(lease.handOver()).rejects.toThrow(LeaseLostError);
    expect(lease.held).toBe(false);
    await world.until('the lock is free', async () => (await world.snapshot()).type === 'none');
  },

  async 'a hand-over that did not happen changes nothing: the lease is held, and may be handed over again'(
    world,
  ) {
    const b = await world.process();
    const ttl = TTL;
    const outcomes = ['unsent', 'refused'] as const;
    const givers = await Promise.all(outcomes.map((outcome) => troubled(world, did(outcome))));
    const leases = await Promise.all(givers.map((a, at) => a.acquire({ key: `k${at}`, ttl })));
    for (const lease of leases) await expect(lease.handOver()).rejects.toThrow(LockStoreError);
    for (let time = 0; time < 5; time += 1) {
      await world.pass(ttl / 3 + 100);
      await world.until('both are renewed', () =>
        givers.every(({ answered }) => answered.renewals > time),
      );
    }
    for (const lease of leases) {
      expect([lease.held, lease.signal.aborted]).toEqual([true, false]);
      const taken = await restore(b, await lease.handOver());
      expect(await taken.release()).toBe(true);
    }
    for (const a of givers) expect(a.locks.load).toMatchObject({ held: 0, watched: 0 });
  },

  async 'a lease whose hand-over did not happen ends as any other, by its holder or with its process'(
    world,
  ) {
    for (const end of ['release', 'withLock', 'crash'] as const) {
      const a = await troubled(world, did('refused'));
      const acquired = a.acquire({ ttl: TTL });
      const body = withLease(acquired, async (lease) => {
        await expect(lease.handOver()).rejects.toThrow(LockStoreError);
        expect(lease.held).toBe(true);
        if (end === 'release') expect(await lease.release()).toBe(true);
        if (end === 'crash') await a.crash();
      });
      await world.finish(body.catch(() => {}));
      if (end !== 'crash') expect(a.locks.load).toMatchObject({ held: 0, watched: 0 });
      else await world.pass(TTL);
      await world.until('the lock is free', async () => (await world.snapshot()).type === 'none');
    }
  },

  async 'a lease that was given back while its hand-over did not happen is held by nobody'(world) {
    for (const outcome of ['unsent', 'refused'] as const) {
      const a = await troubled(world, did(outcome));
      const lease = await a.acquire({ ttl: 60_000 });
      const text = later(lease.handOver());
      expect(await lease.release()).toBe(false);
      await expect(text).rejects.toThrow(LockStoreError);
      await world.until('the lock is free', async () => (await world.snapshot()).type === 'none');
      expect(a.locks.load).toMatchObject({ held: 0, watched: 0 });
    }
  },

  async 'who hears nothing gives up after twice the time-out of a command, however its last try ends, and asks no more'(
    world,
  ) {
    const [a, commandTimeout] = [await world.process(), 1_000];
    for (const end of [2 * commandTimeout - 1, 10 * commandTimeout]) {
      let [asked, from] = [0, 0];
      const b = await world.process({ commandTimeout }, (store, clock) =>
        withSteps(store, {
          transfer: () =>
            new Promise((_, reject) => {
              const last = (asked += 1) > 1;
              const lost = new LockStoreError('The lock store failed.', { outcome: 'unknown' });
              clock.after(last ? from + end - clock.monotonic() : 0, () => reject(lost));
            }),
        }),
      );
      const text = await (await a.acquire({ key: `k${end}` })).handOver();
      from = b.clock.monotonic();
      const restored = later(restore(b, text));
      await expect(world.finish(restored)).rejects.toThrow(LockStoreError);
      expect(b.clock.monotonic() - from).toBeLessThan(atMost(world, 2.2 * commandTimeout));
      await world.pass(10 * commandTimeout);
      expect(asked).toBe(2);
    }
  },

  async 'who hears nothing of its first try, for twice the time-out of a command, is told so'(
    world,
  ) {
    const [a, commandTimeout] = [await world.process(), 200];
    const b = await world.process({ commandTimeout }, (store) =>
      withSteps(store, { transfer: () => new Promise(() => {}) }),
    );
    const text = await (await a.acquire()).handOver();
    const told: unknown = expect.objectContaining({ code: 'LOCK_STORE', outcome: 'unknown' });
    await expect(world.finish(restore(b, text))).rejects.toEqual(told);
  },

  async 'who does not hear that it restored it asks again'(world) {
    const a = await world.process();
    for (const trouble of [unheard, did('unsent')]) {
      const b = await troubled(world, trouble);
      const text = await (await a.acquire()).handOver();
      const taken = await world.finish(restore(b, text));
      expect(taken.held).toBe(true);
      expect(await taken.release()).toBe(true);
    }
  },
};

export const handOverOnRedis: Contract = {
  async 'a message that names the lease on its way takes it from nobody'(world) {
    const { control, prefix } = world.redis!;
    const [a, b] = [await world.process(), await world.process()];
    const text = await (await a.acquire()).handOver();
    const [{ request }] = readHandOver(text);
    const [seconds] = await control.time();
    const now = Number(seconds) * 1_000_000;
    const forge = async (): Promise<void> => {
      for (const { store } of [a, b]) {
        const inbox = `${prefix}inbox:${store.processId}`;
        await control.publish(
          inbox,
          `granted ${entryOf(request)} 3000 ${now} ${now} 1 0 - ${prefix}k`,
        );
        await control.publish(inbox, `forced ${request.holder}`);
        await control.publish(inbox, `kept 0 ${prefix}k`);
      }
      await world.elapse(100);
    };
    await forge();
    const lease = await restore(b, text);
    await forge();
    await lease.extend();
    expect(await lease.release()).toBe(true);
  },
};

export function restore(process: LockingProcess, text: string): Promise<Lease> {
  return process.locks.restore(readHandOver(text));
}

/** A process in which a hand-over goes another way for once. */
function troubled(
  world: World,
  trouble: (transfer: LockStore['transfer']) => LockStore['transfer'],
): Promise<LockingProcess> {
  let times = 0;
  const wrap: Wrap = (store) => {
    const right: LockStore['transfer'] = (...requests) => store.transfer(...requests);
    const wrong = trouble(right);
    return withSteps(store, {
      transfer: (...requests) => ((times += 1) === 1 ? wrong : right)(...requests),
    });
  };
  const commandTimeout = world.redis ? 3_000 : 200; // a busy machine restores in time, within twice as long
  return world.process({ commandTimeout }, wrap);
}

function failure(outcome: 'unsent' | 'refused' | 'unknown'): LockStoreError {
  return new LockStoreError('It did not answer.', { key: 'k', outcome });
}
