import { expect } from '@jest/globals';
import { isLockError } from '../../lib/engine/errors/index.js';
import { callSettings } from '../../lib/engine/options/index.js';
import type { Contract } from '../support/contract.js';
import { Heard } from '../support/heard.js';
import { random as randomFrom } from '../support/random.js';
import type { LockingProcess, World } from '../support/world.js';

const KEYS = ['a', 'b', 'c'];
/** How often each caller asks. */
const ASKS = 12;
const CALLERS = 6;

class Aborted extends Error {}

export const events: Contract = {
  async 'in a crowd, each call and each hold that began has one end, and says how it came about'(
    world,
  ) {
    using heard = new Heard();
    await crowd(world);
    await world.until('everything has ended', () => heard.unbalanced.length === 0);
    const outcomes = heard.calls.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(expect.arrayContaining(['acquired', 'busy', 'refused']));
    expect(heard.calls.filter(({ waited }) => !(waited! >= 0))).toEqual([]);
    expect(heard.holds.filter(({ held, end }) => !(held! >= 0) || !end)).toEqual([]);
    expect(heard.failed.filter(({ outcome }) => outcome === 'acquired')).toEqual([]);
    for (const call of heard.calls) {
      const holds = heard.holds.filter(({ acquire }) => acquire === call);
      const least = call.outcome === 'acquired' ? call.key.split(', ').length : 0;
      expect(holds.length).toBeGreaterThanOrEqual(least);
    }
    const ends = (end: string): number => heard.holds.filter((hold) => hold.end === end).length;
    expect(heard.of('lost')).toHaveLength(ends('lost'));
    expect(heard.of('released')).toHaveLength(ends('released'));
    expect(heard.of('acquired')).toHaveLength(
      heard.calls.filter(({ outcome }) => outcome === 'acquired').length,
    );
  },

  async 'a call for several locks that its code gave back early is one call'(world) {
    const process = await world.process();
    const call = callSettings({}, process.settings.call);
    const outer = await process.locks.acquire(KEYS, call);
    using heard = new Heard();
    await outer.run(async () => {
      await outer.release();
      const lease = await world.finish(process.locks.acquire(KEYS, call));
      await lease.release();
    });
    expect(heard.calls.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['a, b, c', 'acquired'],
    ]);
    expect(heard.of('acquired')).toHaveLength(1);
  },

  async 'a call for several locks that waits for a sibling, and finds them given back, is one call'(
    world,
  ) {
    const process = await world.process();
    const call = callSettings({}, process.settings.call);
    const outer = await process.locks.acquire(KEYS, call);
    await outer.run(async () => {
      const sibling = await process.locks.acquire(KEYS, call);
      using heard = new Heard();
      const coming = process.locks.acquire(KEYS, call);
      await world.elapse(1); // it waits
      await outer.release();
      await sibling.release();
      const lease = await world.finish(coming);
      expect(await lease.release()).toBe(true);
      expect(heard.calls.map(({ key, outcome }) => [key, outcome])).toEqual([
        ['a, b, c', 'acquired'],
      ]);
      expect(heard.of('acquired')).toHaveLength(1);
      expect(heard.holds.map(({ key, acquire }) => [key, acquire])).toEqual(
        KEYS.map((key) => [key, heard.calls[0]]),
      );
      expect(heard.unbalanced).toEqual([]);
    });
  },

  async 'a call that is still waiting when its process closes is refused'(world) {
    using heard = new Heard();
    const [holder, waiter] = [await world.process(), await world.process()];
    await holder.acquire();
    const asked = Promise.allSettled([waiter.acquire()]);
    await world.until('it waits', () => heard.of('contended').length > 0);
    await world.finish(waiter.locks.close());
    await asked;
    await world.finish(holder.locks.close());
    expect(heard.calls.map(({ outcome }) => outcome)).toEqual(['acquired', 'refused']);
    expect(heard.of('refused')).toMatchObject([{ by: 'shutdown', key: 'k' }]);
    expect(heard.of('lost')).toMatchObject([{ reason: 'shutdown' }]);
    expect(heard.unbalanced).toEqual([]);
  },
};

/** A caller that asks for locks in every way and does with them what one can, until its process has nothing for it any more. */
async function caller(process: LockingProcess, random: () => number): Promise<void> {
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => void process.clock.after(ms, resolve));
  const any = (): string => KEYS[Math.floor(random() * KEYS.length)]!;
  for (let ask = 0; ask < ASKS; ask += 1) {
    const abort = new AbortController();
    const way = random();
    try {
      const key = way < 0.15 ? KEYS.slice(0, 2) : any();
      const wait = way < 0.3 ? 0 : 20 + random() * 200;
      if (way > 0.9) void pause(random() * 30).then(() => abort.abort(new Aborted()));
      const lease = await process.acquire({ key, wait, signal: abort.signal });
      if (random() < 0.1) await process.locks.force(any());
      await pause(random() * 10);
      if (random() < 0.1) await lease.extend();
      if (random() < 0.05) await lease.handOver();
      if (random() < 0.95) await lease.release();
    } catch (error) {
      if (!isLockError(error) && !(error instanceof Aborted)) throw error;
    }
  }
}

/** Two processes with a crowd in each, one of which is closed in the middle of it; then the other one. */
async function crowd(world: World): Promise<void> {
  const processes = [
    await world.process({ ttl: 2_000 }),
    await world.process({ ttl: 2_000, limits: { waitersPerProcess: 2 } }),
  ];
  const random = randomFrom(world.fairness.length);
  const done = processes.map((process) =>
    Promise.all(Array.from({ length: CALLERS }, () => caller(process, random))),
  );
  const middle = new Promise<void>((resolve) => void world.clock.after(250, resolve));
  const closed = middle.then(() => processes[1]!.locks.close());
  await world.finish(Promise.all([...done, closed]));
  await world.finish(processes[0]!.locks.close());
}
