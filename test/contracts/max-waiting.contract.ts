import { expect } from '@jest/globals';
import { LockLimitError } from '../../lib/engine/errors/index.js';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { READER } from '../../lib/engine/options/index.js';
import { DEAD } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { noting } from '../support/noting.js';
import type { LockingProcess, World } from '../support/world.js';

/** What a refused call rejects with. */
const REFUSED = { code: 'LOCK_LIMIT', limit: 'maxWaiting' };

/** For how long somebody waits before another asks, in ms. */
const PAUSE = 200;

/** Callers that have queued, each of another process. */
async function inQueue(world: World, count: number): Promise<Promise<BaseLease>[]> {
  const waits: Promise<BaseLease>[] = [];
  for (let nth = 1; nth <= count; nth += 1) {
    const process = await world.process();
    waits.push(later(process.acquire({ wait: Infinity })));
    await world.waiting(nth);
  }
  return waits;
}

/** Gives back what is held, and then what each gets of those who wait. */
async function serve(world: World, lease: BaseLease, waits: Promise<BaseLease>[]): Promise<void> {
  await lease.release();
  for (const wait of waits) await (await world.finish(wait)).release();
}

function expectNothingOf(process: LockingProcess): void {
  expect(process.locks.load).toMatchObject({ held: 0, waiting: 0, leaving: 0 });
}

export const maxWaiting: Contract = {
  async 'a call is refused at once where as many wait as it says, whichever processes they are of'(
    world,
  ) {
    const [holder, caller] = [await world.process(), await world.process()];
    const lease = await holder.acquire();
    const waits = await inQueue(world, 2);
    const refused = caller.acquire({ maxWaiting: 2, wait: Infinity });
    await expect(world.finish(refused)).rejects.toMatchObject({ ...REFUSED, cap: 2 });
    expectNothingOf(caller);
    expect((await world.snapshot()).waiting).toBe(2);
    const next = later(caller.acquire({ maxWaiting: 3 }));
    await world.waiting(3);
    await serve(world, lease, [...waits, next]);
  },

  async 'callers of its own process count one by one'(world) {
    const a = await world.process();
    const lease = await a.acquire();
    const calls = [1, 2, 3, 4, 5].map(() => later(a.acquire({ maxWaiting: 3, wait: Infinity })));
    for (const call of calls.slice(3)) {
      await expect(world.finish(call)).rejects.toMatchObject(REFUSED);
    }
    expect(a.locks.load.waiting).toBe(3);
    await serve(world, lease, calls.slice(0, 3));
    expectNothingOf(a);
  },

  async 'of calls that are made at once where others wait, those in front stay'(world) {
    const [holder, a] = [await world.process(), await world.process()];
    const lease = await holder.acquire();
    const waits = await inQueue(world, 2);
    const calls = [1, 2, 3, 4].map(() => later(a.acquire({ maxWaiting: 4, wait: Infinity })));
    for (const call of calls.slice(2)) {
      await expect(world.finish(call)).rejects.toMatchObject(REFUSED);
    }
    const some = later(a.acquire({ maxWaiting: 3, wait: Infinity }));
    await expect(world.finish(some)).rejects.toMatchObject(REFUSED); // two are before its entry, two behind it
    await serve(world, lease, [...waits, ...calls.slice(0, 2)]);
    expectNothingOf(a);
  },

  async 'who says nothing waits behind any number, also where the caller before it is refused'(
    world,
  ) {
    const [holder, a] = [await world.process(), await world.process()];
    const lease = await holder.acquire();
    const waits = await inQueue(world, 2);
    const refused = later(a.acquire({ maxWaiting: 1, wait: Infinity }));
    const patient = later(a.acquire({ wait: Infinity }));
    await expect(world.finish(refused)).rejects.toMatchObject(REFUSED);
    await world.waiting(3);
    await serve(world, lease, [...waits, patient]);
    expectNothingOf(a);
  },

  async 'a lock that is free is granted, and who does not wait is told that it is held'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire({ maxWaiting: 1 });
    await expect(b.acquire({ maxWaiting: 1, wait: 0 })).rejects.toMatchObject({
      code: 'LOCK_NOT_ACQUIRED',
    });
    await lease.release();
    await (await world.finish(b.acquire({ maxWaiting: 1 }))).release();
  },

  async 'who has been let wait stays, however many come'(world) {
    const [holder, a] = [await world.process(), await world.process()];
    const lease = await holder.acquire();
    const first = later(a.acquire({ maxWaiting: 1, wait: Infinity }));
    await world.waiting(1);
    const waits = [later(holder.acquire({ wait: Infinity }))];
    await world.waiting(2);
    await world.silence(DEAD + 100); // all ask again
    await world.asked(a);
    await serve(world, lease, [first, ...waits]);
  },

  async 'the module says it for all calls, and a call otherwise'(world) {
    const [holder, a] = [await world.process(), await world.process({ maxWaiting: 1 })];
    const lease = await holder.acquire();
    const waits = await inQueue(world, 1);
    await expect(world.finish(a.acquire())).rejects.toMatchObject({ ...REFUSED, cap: 1 });
    const other = later(a.acquire({ maxWaiting: Infinity, wait: Infinity }));
    await world.waiting(2);
    await serve(world, lease, [...waits, other]);
  },

  async 'of several keys, one with too many callers refuses the call, and nothing is held'(world) {
    const [holder, a] = [await world.process(), await world.process()];
    const lease = await holder.acquire();
    const waits = await inQueue(world, 1);
    const refused = a.acquire({ key: ['j', 'k'], maxWaiting: 1, wait: Infinity });
    await expect(world.finish(refused)).rejects.toMatchObject({ ...REFUSED, key: 'k' });
    await world.until('nothing is held', async () => (await world.snapshot('j')).type === 'none');
    expectNothingOf(a);
    await serve(world, lease, waits);
  },

  async 'the error says how long the caller has waited that waits longest in its process'(world) {
    const [holder, a] = [await world.process(), await world.process()];
    const lease = await holder.acquire();
    const wait = later(a.acquire({ wait: Infinity }));
    await world.waiting(1);
    const from = a.clock.monotonic();
    await world.elapse(PAUSE);
    const error: unknown = await world
      .finish(a.acquire({ maxWaiting: 1 }))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LockLimitError);
    expect((error as LockLimitError).retryAfter).toBeGreaterThanOrEqual(PAUSE - 1);
    expect((error as LockLimitError).retryAfter).toBeLessThan(a.clock.monotonic() - from + 1_000);
    const stranger = await world.process();
    const other: unknown = await world
      .finish(stranger.acquire({ maxWaiting: 1 }))
      .catch((thrown: unknown) => thrown);
    expect(other).toMatchObject({ ...REFUSED, retryAfter: undefined });
    await serve(world, lease, [wait]);
  },

  async 'a full queue says which limit refused the call'(world) {
    const limits = { waitersPerKey: 1 };
    const [holder, a] = [await world.process({ limits }), await world.process({ limits })];
    const lease = await holder.acquire();
    const waits = await inQueue(world, 1);
    for (const most of [5, Infinity]) {
      await expect(world.finish(a.acquire({ maxWaiting: most }))).rejects.toMatchObject({
        code: 'LOCK_LIMIT',
        limit: 'waitersPerKey',
        cap: 1,
      });
    }
    await serve(world, lease, waits);
  },
};

export const maxWaitingOfReaders: Contract = {
  async 'readers who wait behind a writer count, and are refused by their first ask'(world) {
    const steps: string[] = [];
    const [holder, a] = [await world.process(), await world.process({}, noting(steps))];
    const lease = await holder.acquire();
    const waits = await inQueue(world, 1);
    const read = { share: READER, wait: Infinity };
    const refused = a.acquire({ ...read, maxWaiting: 1 });
    await expect(world.finish(refused)).rejects.toMatchObject(REFUSED);
    expect(steps).toEqual(['acquire']); // nothing had to be given up
    const reading = later(a.acquire({ ...read, maxWaiting: 2 }));
    await world.waiting(2);
    await serve(world, lease, [...waits, reading]);
  },
};
