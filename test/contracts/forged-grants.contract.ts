import { expect } from '@jest/globals';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { entryOf } from '../../lib/engine/locks/entry.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { FIRST_LEASE } from '../../lib/engine/protocol/constants.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { PATIENCE } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { awaiting, condition } from './conditions.contract.js';
import { deceived, overhear, serverTime } from './hints.contract.js';

/** The entry of a request that awaits a condition, once it was signalled. */
function signalledEntry({ holder, ttl, tokenBlock, condition: awaited }: LockRequest): string {
  return `${holder}/${ttl}/c${tokenBlock}/${awaited!.name}`;
}

/** To those that a lock without permits alone has: readers, who reads on, and who awaits a condition. */
export const forgedGrants: Contract = {
  async 'a forged grant to a reader is believed for a first lease at most'(world) {
    const { lease, believed, forge } = await deceived(world, 30_000, 'shared');
    const now = await serverTime(world);
    await forge(`${FIRST_LEASE} ${now} ${now} 1 0 -`);
    const deceit = await believed();
    await deceit?.extend().catch(() => {});
    expect([deceit?.held ?? false, lease.held]).toEqual([false, true]);
    expect(await lease.release()).toBe(true);
    await world.until('nobody holds it', async () => (await world.holder()) === '');
  },

  async 'a grant that is repeated when its holder is through takes the lock from nobody'(world) {
    const { control, prefix } = world.redis!;
    const heard = overhear();
    const [a, b] = [await world.process(), await world.process({}, heard.wrap)];
    const before = await a.acquire();
    const waiting = later(b.acquire());
    await world.waiting(1);
    const entry = entryOf(heard.asked!);
    await before.release();
    await (await waiting).release();
    const lease = await b.acquire();
    const now = await serverTime(world);
    const words = `granted ${entry} ${FIRST_LEASE} ${now} ${now} 1 0 - ${prefix}k`;
    await control.publish(`${prefix}inbox:${b.store.processId}`, words);
    expect((await b.store.health(PATIENCE)).inbox).toBe(true); // what came before is dealt with
    await lease.extend();
    expect(await lease.release()).toBe(true);
  },

  async 'a forged grant to who reads on does not make it a writer'(world) {
    const { control, prefix } = world.redis!;
    const heard = overhear();
    const [a, b] = [await world.process({}, heard.wrap), await world.process()];
    const lease = await a.acquire();
    await lease.downgrade();
    const now = await serverTime(world);
    const words = `granted ${entryOf(heard.asked!)} ${FIRST_LEASE} ${now} ${now} 1 0 - ${prefix}k`;
    await control.publish(`${prefix}inbox:${a.store.processId}`, words);
    expect((await a.store.health(PATIENCE)).inbox).toBe(true); // what came before is dealt with
    const beside = await b.acquire({ mode: 'shared', wait: 0 });
    expect([lease.held, beside.held]).toEqual([true, true]);
    expect([await beside.release(), await lease.release()]).toEqual([true, true]);
  },

  async 'a forged grant to who awaits a condition is believed for a first lease at most'(world) {
    const { control, prefix } = world.redis!;
    const heard = overhear();
    const [a, b] = [await world.process({}, heard.wrap), await world.process()];
    const lease = await a.acquire({ ttl: 30_000 });
    const condition = new Condition(a.locks.conditions, lease as SingleLease, 'changed');
    const woken = later(condition.await({ wait: 1_000 }));
    const other = await b.acquire();
    await world.until('it has asked', () => heard.asked?.condition !== undefined);
    const now = await serverTime(world);
    const signalled = signalledEntry(heard.asked!);
    const words = `granted ${signalled} ${FIRST_LEASE} ${now} ${now} 1 0 - ${prefix}k`;
    await control.publish(`${prefix}inbox:${a.store.processId}`, words);
    expect((await a.store.health(PATIENCE)).inbox).toBe(true); // what came before is dealt with
    await lease.extend().catch(() => {});
    expect([lease.held, other.held]).toEqual([false, true]);
    expect(await other.release()).toBe(true);
    await woken.catch(() => {}); // a forgery that was believed is its loss
  },

  async 'a forged grant that was believed leaves nothing in the queue when it is handed over or shared'(
    world,
  ) {
    for (const how of ['handOver', 'downgrade'] as const) {
      const { lease, believed, forge } = await deceived(world, 30_000);
      const now = await serverTime(world);
      await forge(`${FIRST_LEASE} ${now} ${now} 1 0 -`);
      const deceit = await believed();
      await deceit?.[how]().catch(() => {});
      expect([deceit?.held ?? false, lease.held]).toEqual([false, true]);
      await world.waiting(0);
      expect(await lease.release()).toBe(true);
      await world.until('nobody holds it', async () => (await world.holder()) === '');
    }
  },

  async 'who awaited a condition and believed a forged grant leaves the queue, and the next has the signal'(
    world,
  ) {
    const { control, prefix } = world.redis!;
    for (const told of [false, true]) {
      const heard = overhear();
      const [a, b] = [await world.process({}, heard.wrap), await world.process()];
      const first = await awaiting(world, a);
      const second = await awaiting(world, b);
      const teller = await b.acquire();
      if (told) expect(await condition(b, teller).signal()).toBe(true);
      const now = await serverTime(world);
      const signalled = signalledEntry(heard.asked!);
      const words = `granted ${signalled} ${FIRST_LEASE} ${now} ${now} 1 0 - ${prefix}k`;
      await control.publish(`${prefix}inbox:${a.store.processId}`, words);
      expect((await a.store.health(PATIENCE)).inbox).toBe(true); // what came before is dealt with
      expect(await first.lease.release()).toBe(false);
      await first.woken.catch(() => {}); // a forgery that was not believed is its loss
      const left = told ? 0 : 1;
      await world.until('it left', async () => (await world.snapshot()).awaiting === left);
      if (!told) expect(await condition(b, teller).signal()).toBe(true);
      await teller.release();
      expect(await world.finish(second.woken)).toBe(true);
      await second.lease.release();
      await world.waiting(0);
    }
  },
};
