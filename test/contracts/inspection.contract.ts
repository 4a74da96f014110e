import { expect } from '@jest/globals';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import { FIRST_BLOCK } from '../../lib/engine/client/queue/local-queue.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { READER } from '../../lib/engine/options/index.js';
import { Condition } from '../../lib/nest/services/condition.js';
import {
  grantOf,
  inspection,
  inspectLock,
  listedLocks,
  type LockInspection,
} from '../../lib/engine/inspection/inspection.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import type { LockingProcess, World } from '../support/world.js';

export const inspecting: Contract = {
  async 'each grant shows another text than the next, whatever it is held as, and the same while it lasts'(
    world,
  ) {
    await showsItsGrants(world, [{}, { fencing: false }, { share: READER }]);
  },

  async 'who comes or goes beside other holders changes what their grants show'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const grant = async (): Promise<string | undefined> => grantOf(await inspectLock(b.locks, 'k'));
    const leases = [await world.finish(a.acquire({ share: READER }))];
    const alone = await grant();
    leases.push(await world.finish(b.acquire({ share: READER })));
    const both = await grant();
    await world.finish(leases[0]!.extend('1h')); // the other one ends first now
    expect(await grant()).toBe(both);
    await leases.pop()!.release();
    expect([await grant(), both === alone]).toEqual([alone, false]);
    await leases.pop()!.release();
  },

  async 'a holder is seen under its own token, and since its own grant'(world) {
    const [a, b] = [await world.process(), await world.process()];
    for (let turn = 0; turn < 3; turn += 1) {
      await world.elapse(5);
      const before = await now(b);
      const lease = await world.finish(a.acquire());
      const after = await now(b);
      await world.elapse(5);
      const from = await now(b);
      const { fencingToken, lastFencingToken, holder } = await look(b);
      const since = holder!.since!.getTime();
      expect(holder!.heldFor).toBeGreaterThanOrEqual(Math.floor(from - since));
      expect(holder!.heldFor).toBeLessThanOrEqual(Math.ceil((await now(b)) - since));
      expect(fencingToken).toBe(lease.fencingToken);
      expect(lastFencingToken).toBeGreaterThanOrEqual(lease.fencingToken);
      expect(since).toBeGreaterThanOrEqual(Math.floor(before));
      expect(since).toBeLessThanOrEqual(Math.ceil(after));
      await lease.release();
    }
  },

  async 'no token is said that is ahead of what a process has come to within its turn'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const first = await world.finish(a.acquire());
    const waiting = [a.acquire(), a.acquire()];
    await world.elapse(1);
    for (let lease = first; ; lease = (await world.finish(waiting.shift()!)) as typeof first) {
      const { fencingToken, holder } = await look(b);
      expect(fencingToken).toBeGreaterThanOrEqual(first.fencingToken);
      expect(fencingToken).toBeLessThanOrEqual(lease.fencingToken);
      expect(holder!.since!.getTime()).toBeLessThanOrEqual(await now(b));
      await lease.release();
      if (waiting.length === 0) break;
    }
  },

  async 'a holder without tokens has none of an earlier one, and no time'(world) {
    const [a, b] = [await world.process(), await world.process()];
    await a.locks.optimistic('k'); // mints one
    const fenced = await world.finish(a.acquire());
    const token = fenced.fencingToken;
    await fenced.release();
    const check = async (): Promise<void> => {
      const seen = await look(b);
      expect(seen).toMatchObject({ state: 'held', mode: 'exclusive', holder: {} });
      expect([seen.fencingToken, seen.holder!.since]).toEqual([undefined, undefined]);
      expect(seen.lastFencingToken).toBeGreaterThanOrEqual(token);
    };
    const lease = await world.finish(a.acquire({ fencing: false }));
    await check();
    await b.locks.optimistic('k');
    await check();
    const changed = new Condition(a.locks.conditions, lease as SingleLease, 'changed');
    const woken = later(changed.await());
    await world.until('it awaits', async () => (await world.snapshot()).awaiting === 1);
    const teller = await world.finish(b.acquire());
    await new Condition(b.locks.conditions, teller as SingleLease, 'changed').signal();
    await teller.release();
    await world.finish(woken);
    await check();
    const text = await lease.handOver();
    await check();
    const restored = await b.locks.restore(readHandOver(text));
    await check();
    await restored.release();
  },

  async 'a lease that was handed over keeps its time, and no token ahead of its own is said'(
    world,
  ) {
    const [a, b] = [await world.process(), await world.process()];
    const given = await world.finish(a.acquire());
    const before = await look(b);
    const text = await given.handOver();
    const lease = await b.locks.restore(readHandOver(text));
    const after = await look(a);
    expect([after.fencingToken, after.holder!.since]).toEqual([
      lease.fencingToken,
      before.holder!.since,
    ]);
    await lease.release();
  },

  async 'who holds it with others has no token there, nor has a lock that is free'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const writer = await world.finish(a.acquire());
    const token = writer.fencingToken;
    await writer.release();
    const { state, fencingToken, lastFencingToken } = await look(b);
    expect([state, fencingToken]).toEqual(['free', undefined]);
    expect(lastFencingToken).toBeGreaterThanOrEqual(token);
    const reader = await world.finish(a.acquire({ share: READER }));
    const seen = await look(b);
    expect([seen.mode, seen.fencingToken]).toEqual(['shared', undefined]);
    expect(seen.lastFencingToken).toBe(reader.fencingToken);
    await reader.release();
  },
};

/** A quorum has no conditions, hand-overs or readers; its tokens are of the holder's clock. */
export const inspectingOnQuorum: Contract = {
  async 'each grant shows another text than the next, with tokens or without, and the same while it lasts'(
    world,
  ) {
    await showsItsGrants(world, [{}, { fencing: false }]);
  },

  async 'a holder is seen under its own token, since about its own grant'(world) {
    const [a, b] = [await world.process(), await world.process()];
    for (let turn = 0; turn < 3; turn += 1) {
      const before = await now(b);
      const lease = await world.finish(a.acquire());
      const after = await now(b);
      const { fencingToken, lastFencingToken, holder } = await look(b);
      expect(fencingToken).toBe(lease.fencingToken);
      expect(lastFencingToken).toBeGreaterThanOrEqual(lease.fencingToken);
      expect(holder!.since!.getTime()).toBeGreaterThanOrEqual(before - 1_000);
      expect(holder!.since!.getTime()).toBeLessThanOrEqual(after + 1_000);
      await lease.release();
    }
  },

  async 'a holder without tokens has none of an earlier one, and no time'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const fenced = await world.finish(a.acquire());
    await fenced.release();
    const lease = await world.finish(a.acquire({ fencing: false }));
    const { holder, fencingToken } = await look(b);
    expect([holder!.since, fencingToken]).toEqual([undefined, undefined]);
    await lease.release();
  },
};

export const inspectingOnRedis: Contract = {
  async 'a token that leads the server’s clock, which was set back, is no time'(world) {
    const { control, prefix } = world.redis!;
    const [a, b] = [await world.process(), await world.process()];
    const ahead = (Date.now() + 3_600_000) * 1_000;
    await control.set(`${prefix}{}:fence`, String(ahead));
    const lease = await a.acquire();
    const { fencingToken, holder } = await look(b);
    expect([fencingToken, holder!.since]).toEqual([lease.fencingToken, undefined]);
    await lease.release();
  },

  async 'of several tokens the last is the fence, and the first stands behind the holder'(world) {
    const { control, prefix } = world.redis!;
    const a = await world.process({ fairness: 'local' });
    const lease = await a.acquire();
    const last = await control.get(`${prefix}{}:fence`);
    expect(last).toBe(String(lease.fencingToken + FIRST_BLOCK - 1));
    expect(await control.get(`${prefix}k`)).toMatch(new RegExp(`/${lease.fencingToken}$`));
    await lease.release();
  },
};

async function look({ locks }: LockingProcess): Promise<LockInspection> {
  const seen = inspection('k', await locks.inspect('k', 100));
  const search = { pattern: 'k', most: 9, mayBe: (name: string) => name === 'k' };
  const {
    found: [listed],
  } = await listedLocks(locks, search);
  if (listed) {
    const { holder, fencingToken, lastFencingToken } = inspection(...listed);
    const { heldFor = 0, ...rest } = seen.holder ?? {};
    expect({ holder, fencingToken, lastFencingToken }).toEqual({
      holder: seen.holder && {
        ...rest,
        ...('heldFor' in seen.holder && { heldFor: holder?.heldFor }),
      },
      fencingToken: seen.fencingToken,
      lastFencingToken: seen.lastFencingToken,
    });
    expect(holder?.heldFor ?? 0).toBeGreaterThanOrEqual(heldFor);
  }
  return seen;
}

/** The server's clock, in ms. */
async function now({ locks }: LockingProcess): Promise<number> {
  return (await locks.inspect('k', 1)).now;
}

type Call = Parameters<LockingProcess['acquire']>[0];

/** Each grant of one process after the other, as another process sees it. */
async function showsItsGrants(world: World, calls: readonly Call[]): Promise<void> {
  const [a, b] = [await world.process(), await world.process()];
  const grant = async (): Promise<string | undefined> => grantOf(await inspectLock(b.locks, 'k'));
  const grants: (string | undefined)[] = [await grant()];
  for (const call of [...calls, ...calls]) {
    const lease = await world.finish(a.acquire(call));
    const granted = await grant();
    await world.finish(lease.extend('1h'));
    expect(await grant()).toBe(granted);
    grants.push(granted);
    await lease.release();
  }
  expect(await grant()).toBeUndefined();
  expect(new Set(grants).size).toBe(grants.length);
}
