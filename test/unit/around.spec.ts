import { afterEach, describe, expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Around, type HoldTrace, lockChannels } from '../../lib/engine/events/index.js';
import type { Lease } from '../../lib/index.js';
import { ManualClock, memoryLockService } from '../../lib/memory/testing/index.js';

const active = new AsyncLocalStorage<string>();
const undo: (() => void)[] = [];

afterEach(() => {
  for (const each of undo.splice(0)) each();
});

/** All holds that begin from now on, each with this around its bodies. */
function holds(around?: (hold: HoldTrace) => Around): HoldTrace[] {
  const begun: HoldTrace[] = [];
  const start = (trace: HoldTrace): void => {
    begun.push(trace);
    if (around) trace.wrap(around(trace));
  };
  lockChannels.hold.subscribe({ start });
  undo.push(() => lockChannels.hold.unsubscribe({ start }));
  return begun;
}

const inKey = (hold: HoldTrace): Around => {
  return (body) => active.run(hold.key, body);
};
const seen = async (): Promise<string | undefined> => {
  await nextTurn();
  return active.getStore();
};

describe('what a subscriber puts around the bodies of a hold', () => {
  it('is around those of withLock, of lease.run and of several keys, and around nothing else', async () => {
    holds(inKey);
    const locks = memoryLockService();
    expect(await locks.withLock('a', seen)).toBe('a');
    const lease = await locks.acquire('b');
    expect(await seen()).toBe(undefined);
    expect(await lease.run(seen)).toBe('b');
    await lease.release();
    expect(await locks.withLock(['c', 'd'], seen)).toBe('d');
    expect(await seen()).toBe(undefined);
  });

  it('goes on after the holder awaited a condition', async () => {
    const begun = holds(inKey);
    const locks = memoryLockService();
    const waiter = locks.withLock('a', async (lease: Lease) => {
      await locks.condition(lease, 'ready').await();
      return lease.run(seen);
    });
    await nextTurn();
    await locks.withLock('a', (lease) => locks.condition(lease, 'ready').signal());
    expect(await waiter).toBe('a');
    expect(begun.map(({ end }) => end)).toEqual(['awaiting', 'released', 'released']);
  });

  const FAULTS: Record<string, Around> = {
    'throws before': () => {
      throw new Error('before');
    },
    'throws after': (body) => {
      body();
      throw new Error('after');
    },
    'forgets the body': () => 'nothing',
    'returns something else': (body) => {
      body();
      return 'something else';
    },
    'runs the body twice': (body) => [body(), body()],
    'awaits the body': async (body) => {
      await body();
    },
    'rejects by itself': async () => {
      throw new Error('late');
    },
  };

  it.each(Object.entries(FAULTS))('has no effect on a body where it %s', async (_, around) => {
    holds(() => around);
    const locks = memoryLockService();
    let runs = 0;
    const work = async (): Promise<number> => (runs += 1);
    expect(await locks.withLock('a', work)).toBe(1);
    const error = new Error('of the body');
    const fails = (): never => {
      runs += 1;
      throw error;
    };
    await expect(locks.withLock('a', fails)).rejects.toBe(error);
    const failsLater = async (): Promise<never> => fails();
    await expect(locks.withLock('a', failsLater)).rejects.toBe(error);
    await nextTurn(); // a rejection that nobody hears would end the process now, and fails the test
    expect(runs).toBe(3);
  });

  it.each(Object.entries(FAULTS))('stays where another subscriber %s', async (_, around) => {
    const outer = new AsyncLocalStorage<string>();
    holds(inKey);
    holds(() => around);
    holds((hold) => (body) => outer.run(hold.key, body));
    const stores = async (): Promise<unknown> => [await seen(), outer.getStore()];
    expect(await memoryLockService().withLock('a', stores)).toEqual(['a', 'a']);
  });
});

it('a hold keeps none of those that handed the lock on before it', async () => {
  const begun = holds();
  const locks = memoryLockService({ clock: new ManualClock() }); // all within one time slice
  const from: (string | undefined)[] = [];
  const call = (key: string): Promise<unknown> =>
    locks.withLock(key, async () => from.push(begun.at(-1)!.handedFrom?.end));
  await Promise.all([1, 2, 3, 4].map(() => call('hot')));
  expect(from).toEqual([undefined, 'released', 'released', 'released']);
  expect(begun.map(({ handedFrom }) => handedFrom)).toEqual(Array(4).fill(undefined));
});
