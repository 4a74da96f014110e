import { expect } from '@jest/globals';
import { ForeignLockError } from '../../lib/engine/errors/index.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import type { Stamp } from '../../lib/engine/locks/stamp.js';
import { READER } from '../../lib/engine/options/index.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { inspection } from '../../lib/engine/inspection/inspection.js';
import { TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { random } from '../support/random.js';
import type { World } from '../support/world.js';

const reader = { share: READER };

/** Takes stamps on `k`, in a process of its own. */
async function stamper(world: World): Promise<() => Promise<Stamp>> {
  const { locks } = await world.process();
  return () => locks.optimistic('k');
}

export const optimistic: Contract = {
  async 'a stamp validates, again and again, while nobody holds the lock exclusively'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    const first = await take();
    expect(await first.validate()).toBe(true);
    const other = await take();
    expect([await first.validate(), await other.validate()]).toEqual([true, true]);
    const { request } = await a.hold();
    await a.lock.release(request, 0);
    const second = await take();
    expect([await second.validate(), await second.validate()]).toEqual([true, true]);
  },

  async 'a stamp does not validate while somebody holds the lock, nor after'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    const stamp = await take();
    const { request } = await a.hold();
    expect(await stamp.validate()).toBe(false);
    await a.lock.release(request, 0);
    expect(await stamp.validate()).toBe(false);
    expect(await (await take()).validate()).toBe(true);
  },

  async 'a stamp does not validate after the lease of a crashed holder'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    const stamp = await take();
    await a.hold({ ttl: TTL });
    await world.pass(TTL);
    await world.until('the lease is over', async () => (await world.snapshot()).type === 'none');
    expect(await stamp.validate()).toBe(false);
  },

  async 'a stamp that was taken while somebody held the lock never validates'(world) {
    const [take, a, b] = [await stamper(world), await world.client(), await world.client()];
    const { request } = await a.hold();
    const { request: successor } = await b.queue();
    const stamps = [await take()];
    await a.lock.release(request, 0);
    stamps.push(await take());
    await b.lock.release(successor, 0);
    expect((await world.snapshot()).type).toBe('none');
    for (const stamp of stamps) expect(await stamp.validate()).toBe(false);
  },

  async 'a lock that goes from hand to hand in a process is held all the while'(world) {
    const [take, process] = [await stamper(world), await world.process()];
    const before = await take();
    const [first, ...others] = [process.acquire(), process.acquire(), process.acquire()];
    const stamps: Stamp[] = [];
    let lease = await world.finish(first);
    for (const next of others) {
      stamps.push(await take());
      const [, following] = await Promise.all([lease.release(), world.finish(next)]);
      lease = following;
    }
    stamps.push(await take());
    await lease.release();
    await world.until('nobody holds it', async () => (await world.snapshot()).type === 'none');
    for (const stamp of [before, ...stamps]) expect(await stamp.validate()).toBe(false);
  },

  async 'readers do not disturb a stamp, nor does it disturb them'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    const stamp = await take();
    const { request } = await a.hold(reader);
    expect(await stamp.validate()).toBe(true);
    const beside = await take();
    await a.lock.release(request, 0);
    expect([await stamp.validate(), await beside.validate()]).toEqual([true, true]);
  },

  async 'a stamp from before a permit does not validate, and a reader after it has no smaller token'(
    world,
  ) {
    const [take, a] = [await stamper(world), await world.client()];
    const stamp = await take();
    const permit = await a.hold({ share: { permits: 2, count: 1 } });
    await a.lock.release(permit.request, 0);
    expect(await stamp.validate()).toBe(false);
    const { grant } = await a.hold(reader);
    expect(grant.fencingToken).toBeGreaterThanOrEqual(permit.grant.fencingToken!);
  },

  async 'a stamp beside who has become a reader validates, one from before does not'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    const free = await take();
    const { request } = await a.hold();
    const held = await take();
    await a.lock.downgrade(request);
    const shared = await take();
    expect(await free.validate()).toBe(false);
    expect(await held.validate()).toBe(false);
    expect(await shared.validate()).toBe(true);
  },

  async 'who awaits a condition holds nothing, and may write again when it wakes'(world) {
    const [take, process, other] = [
      await stamper(world),
      await world.process(),
      await world.client(),
    ];
    const lease = await process.acquire();
    const held = await take();
    const condition = new Condition(process.locks.conditions, lease as SingleLease, 'changed');
    const woken = condition.await();
    await world.until('it awaits', async () => (await world.snapshot()).awaiting === 1);
    const awaited = await take();
    expect([await held.validate(), await awaited.validate()]).toEqual([false, true]);
    const { request } = await other.hold();
    expect(await other.lock.signal(request, 'changed', 1)).toEqual({ woken: 1 });
    const signalled = await take();
    await other.lock.release(request, 0);
    await world.finish(woken);
    const woke = await take();
    await lease.release();
    for (const stamp of [awaited, signalled, woke]) expect(await stamp.validate()).toBe(false);
  },

  async 'in a minimum hold nobody writes any more'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    const nineHost = `9-web.1.${'A'.repeat(11)}/1`;
    for (const more of [{}, { holder: nineHost }]) {
      const request = { ...a.request(), ...more };
      expect((await a.try(request)).kind).toBe('held');
      const held = await take();
      await a.lock.release(request, 60_000);
      expect(inspection('k', await world.snapshot()).state).toBe('kept');
      const kept = await take();
      expect([await held.validate(), await kept.validate()]).toEqual([false, true]);
      await a.lock.force('k');
    }
  },

  async 'a server that lost everything is noticed, also where no lock had ever been held'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    const stamps = [await take()];
    await world.flush();
    await world.elapse(2);
    expect(await stamps[0]!.validate()).toBe(false);
    stamps.push(await take());
    const { request } = await a.hold();
    await a.lock.release(request, 0);
    stamps.push(await take());
    await world.flush();
    await world.elapse(2);
    for (const stamp of stamps) expect(await stamp.validate()).toBe(false);
  },

  async 'who writes without a token is seen only while it holds the lock'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    const stamp = await take();
    const { request } = await a.hold({ tokenBlock: 0 });
    expect(await stamp.validate()).toBe(false);
    await a.lock.release(request, 0);
    expect(await stamp.validate()).toBe(true);
  },

  async 'somebody else’s plain lock counts while it stands'(world) {
    const take = await stamper(world);
    const stamp = await take();
    await world.plant('k', 'string');
    expect(await stamp.validate()).toBe(false);
    expect(await (await take()).validate()).toBe(false);
  },

  async 'what is no lock is left alone'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    const stamp = await take();
    const { request } = await a.hold({ share: { permits: 3, count: 1 } });
    await expect(take()).rejects.toThrow(ForeignLockError);
    await expect(stamp.validate()).rejects.toThrow(ForeignLockError);
    await a.lock.release(request, 0);
    await world.plant('k', 'hash');
    await expect(take()).rejects.toThrow(ForeignLockError);
    expect((await world.snapshot()).type).toBe('hash');
  },

  async 'a stamp holds nothing, and what it leaves has an end'(world) {
    const [take, a] = [await stamper(world), await world.client()];
    await take();
    expect((await a.try(a.request())).kind).toBe('held');
    const { request } = await a.queue();
    await take();
    expect((await world.snapshot()).entries[0]!.entry).toContain(request.holder);
    for (const { ttl } of await world.keys()) expect(ttl).toBeGreaterThan(0);
  },

  async 'of many readers beside writers none uses what was half written'(world) {
    const chance = random(11);
    const pair = { left: 0, right: 0 };
    const pause = async (most: number): Promise<void> => {
      for (let left = Math.floor(chance() * most); left > 0; left -= 1) await world.elapse(1);
    };
    let read = 0;
    let refused = 0;
    const writer = async (): Promise<void> => {
      const process = await world.process();
      for (let round = 0; round < 10; round += 1) {
        const lease = await process.acquire();
        pair.left += 1;
        await pause(3);
        pair.right += 1;
        await lease.release();
        await pause(12);
      }
    };
    const look = async (take: () => Promise<Stamp>): Promise<void> => {
      const stamp = await take();
      const { left } = pair;
      await pause(8);
      const { right } = pair;
      if (await stamp.validate()) {
        expect(right).toBe(left);
        read += 1;
      } else {
        refused += 1;
      }
    };
    const takes = [await stamper(world), await stamper(world)];
    const looking = takes.map(async (take) => {
      for (let round = 0; round < 60; round += 1) await look(take);
    });
    await Promise.all([writer(), writer(), ...looking]); // who pauses lets time pass
    await Promise.all(takes.map(look));
    expect(pair).toEqual({ left: 20, right: 20 });
    expect(read).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  },
};

export const optimisticOnRedis: Contract = {
  async 'a stamp gives the version another minute to live'(world) {
    const { control, prefix } = world.redis!;
    const key = `{${prefix}k}:version`;
    const take = await stamper(world);
    const stamp = await take();
    const version = await control.get(key);
    expect(version).toMatch(/^\d{16}$/);
    for (const look of [take, () => stamp.validate()]) {
      await control.pexpire(key, 5_000);
      await look();
      expect(await control.pttl(key)).toBeGreaterThan(59_000);
    }
    expect(await control.get(key)).toBe(version);
  },

  async 'a version that was evicted hides no writer: who read meanwhile reads again'(world) {
    const { control, prefix } = world.redis!;
    const [take, a] = [await stamper(world), await world.client()];
    const evict = (): Promise<number> => control.del(`{${prefix}k}:version`);
    const write = async (key: string): Promise<void> => {
      const { request } = await a.hold({ key });
      await a.lock.release(request, 0);
    };
    const quiet = await take();
    await evict();
    expect(await quiet.validate()).toBe(false); // nothing says that nobody wrote
    const written = await take();
    await evict();
    await write('k');
    expect(await written.validate()).toBe(false);
    const beside = await take();
    await write('other');
    expect(await beside.validate()).toBe(true);
  },

  async 'a version that somebody wrote over counts as evicted, for stamps and for readers'(world) {
    const { control, prefix } = world.redis!;
    const version = `{${prefix}k}:version`;
    const [take, a] = [await stamper(world), await world.client()];
    for (const garbage of ['9007199254740993', '1e300', '-1', 'inf', 'nan', 'none', '']) {
      const stamp = await take();
      await control.set(version, garbage);
      expect(await stamp.validate()).toBe(false);
      expect(await control.pttl(version)).toBeGreaterThan(0);
      await control.set(version, garbage);
      const { request, grant } = await a.hold({ ...reader, tokenBlock: 1 });
      expect(await control.get(version)).toBe(String(grant.fencingToken));
      expect(grant.fencingToken).toBeGreaterThan(0);
      expect(grant.fencingToken).toBeLessThan((Date.now() + 60_000) * 1_000);
      await a.lock.release(request, 0);
    }
  },

  async 'a writer leaves no version behind, and no reader does for longer than a minute'(world) {
    const { control, prefix } = world.redis!;
    const [take, a] = [await stamper(world), await world.client()];
    const version = `{${prefix}k}:version`;
    await take();
    const { request } = await a.hold();
    expect(await control.exists(version)).toBe(0);
    await a.lock.release(request, 0);
    const { request: read } = await a.hold({ ...reader, ttl: 9_000, tokenBlock: 1 });
    expect(await control.pttl(version)).toBeGreaterThan(68_000);
    await a.lock.extend([{ ...read, ttl: 20_000 }]);
    expect(await control.pttl(version)).toBeGreaterThan(79_000);
    await a.lock.release(read, 0);
    await take();
    expect(await control.pttl(version)).toBeLessThanOrEqual(60_000);
  },

  async 'a stamp and its validation are one round trip each'(world) {
    const { control } = world.redis!;
    const take = await stamper(world);
    await (await take()).validate(); // the script is known then
    await control.config('RESETSTAT');
    await (await take()).validate();
    expect(await control.info('commandstats')).toMatch(/cmdstat_evalsha:calls=2,/);
  },
};
