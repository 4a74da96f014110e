import { expect } from '@jest/globals';
import { LeaseLostError, LockStoreError } from '../../lib/errors/index.js';
import { SLICE } from '../../lib/leases/slice.js';
import type { AcquireOptions } from '../../lib/options/index.js';
import type { Contract } from '../support/contract.js';
import { type LockingProcess, type World, type Wrap, withPrimitive } from '../support/world.js';
import { expectGrowing, expectNothingLeft, later } from './local-hand-off.contract.js';

type Caller = readonly [process: LockingProcess, name: string, options?: AcquireOptions];

/** A process in which each caller has his own place. */
function fair(world: World, wrap?: Wrap): Promise<LockingProcess> {
  return world.process({ fairness: 'strict' }, wrap);
}

/** What came of callers who queued one behind the other. */
class Queue {
  readonly served: string[] = [];
  readonly tokens: number[] = [];
  readonly all: Promise<void>[] = [];

  constructor(private readonly world: World) {}

  /** Each comes when the one before is in the queue; `work` runs under the lock, nothing if nothing is said. */
  async join(callers: readonly Caller[], work?: (name: string) => Promise<void>): Promise<void> {
    for (const [process, name, options = {}] of callers) {
      const call = async (): Promise<void> => {
        const lease = await process.acquire(options);
        this.served.push(name);
        if (options.fencing !== false) this.tokens.push(lease.fencingToken);
        await work?.(name);
        await lease.release();
      };
      this.all.push(later(call()));
      await this.waiting(this.all.length);
    }
  }

  async waiting(count: number): Promise<void> {
    const waiting = async (): Promise<boolean> => (await this.world.sight()).waiting === count;
    await this.world.until(`${count} are in the queue`, waiting);
  }

  async end(): Promise<void> {
    await this.world.finish(Promise.all(this.all));
    expectGrowing(this.tokens);
  }
}

/** Counts what a process tells the store of leases and places that it gives up. */
function counting(sent: { releases: number; departures: number }): Wrap {
  return (store) =>
    withPrimitive(store, {
      release: (claim, keep, passed) => {
        sent.releases += 1;
        return store.lock.release(claim, keep, passed);
      },
      leave: (claim, passed) => {
        sent.departures += 1;
        return store.lock.leave(claim, passed);
      },
    });
}

function many(process: LockingProcess, count: number, options: AcquireOptions = {}): Caller[] {
  return Array.from({ length: count }, (_, at) => [process, `${at}`, options] as const);
}

/** In strict order the lease goes through neighbouring places of one process without the store: to the user all is as ever. */
export const runs: Contract = {
  async 'neighbours of one process are served with one release, in their order'(world) {
    const sent = { releases: 0, departures: 0 };
    const [z, a] = [await fair(world), await fair(world, counting(sent))];
    const queue = new Queue(world);
    const lease = await z.acquire();
    await queue.join(many(a, 20));
    await lease.release();
    await queue.end();
    expect(queue.served).toEqual(many(a, 20).map(([, name]) => name));
    expect(sent.releases).toBeLessThan(10); // one for each 10 ms, which a slow machine may need several of
    expect(sent.departures).toBe(0);
    await expectNothingLeft(world, z, a);
  },

  async 'who stands between them has his turn between them'(world) {
    const [z, a, b] = [await fair(world), await fair(world), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    const callers = ['a1', 'a2', 'b1', 'a3', 'b2', 'b3', 'a4', 'a5', 'b4'] as const;
    await queue.join(callers.map((name) => [name.startsWith('a') ? a : b, name] as const));
    await lease.release();
    await queue.end();
    expect(queue.served).toEqual(callers);
    await expectNothingLeft(world, z, a, b);
  },

  async 'who comes later is served later, though his process has the lock'(world) {
    const [z, a, b] = [await fair(world), await fair(world), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    const again: Promise<void>[] = [];
    await queue.join(
      [
        [a, 'a1'],
        [a, 'a2'],
        [b, 'b'],
      ] as const,
      async (name) => {
        if (name !== 'a1') return;
        const call = a.acquire().then((late) => {
          queue.served.push('a1 again');
          return late.release();
        });
        again.push(later(call).then(() => {}));
      },
    );
    await lease.release();
    await queue.end();
    await world.finish(Promise.all(again));
    expect(queue.served).toEqual(['a1', 'a2', 'b', 'a1 again']);
    await expectNothingLeft(world, z, a, b);
  },

  async 'a reader between writers is passed over by none of them'(world) {
    const [z, a] = [await fair(world), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    await queue.join([
      [a, 'w1'],
      [a, 'w2'],
      [a, 'r', { mode: 'shared' }],
      [a, 'w3'],
      [a, 'w4'],
    ]);
    queue.tokens.length = 0; // a reader has the writer's
    await lease.release();
    await world.finish(Promise.all(queue.all));
    expect(queue.served).toEqual(['w1', 'w2', 'r', 'w3', 'w4']);
    await expectNothingLeft(world, z, a);
  },

  async 'fenced and unfenced neighbours, and those of another ttl, keep their order'(world) {
    const [z, a] = [await fair(world), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    const options: AcquireOptions[] = [
      {},
      { fencing: false },
      { fencing: false },
      {},
      { ttl: 300, renew: false },
      { ttl: 300 },
      { ttl: 60_000 },
      { minHold: 30 },
      {},
    ];
    await queue.join(options.map((each, at) => [a, `${at}`, each] as const));
    await lease.release();
    await queue.end();
    expect(queue.served).toEqual(options.map((_, at) => `${at}`));
    await expectNothingLeft(world, z, a);
  },

  async 'a lease that is passed on ends no later than its own ttl'(world) {
    const [z, a] = [await fair(world), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    const left: number[] = [];
    const ttl = 1_000;
    for (let at = 0; at < 3; at += 1) {
      const call = async (): Promise<void> => {
        const own = await a.acquire({ ttl, renew: false });
        const { remaining } = await world.sight();
        left.push(remaining - (own.expiresAt - a.clock.wall()));
        await own.release();
      };
      queue.all.push(later(call()));
      await queue.waiting(at + 1);
    }
    await lease.release();
    await queue.end();
    for (const more of left) expect(more).toBeGreaterThanOrEqual(0);
  },

  async 'who gives up before his turn is passed over, and leaves no place'(world) {
    const [z, a] = [await fair(world), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    const leaver = new AbortController();
    await queue.join(
      [
        [a, '1'],
        [a, '2', { signal: leaver.signal }],
        [a, '3'],
      ],
      async (name) => {
        if (name === '1') leaver.abort();
      },
    );
    await lease.release();
    await world.finish(Promise.allSettled(queue.all));
    expect(queue.served).toEqual(['1', '3']);
    await expectNothingLeft(world, z, a);
  },

  async 'while one stays, those who have had their turns are seen in the queue no longer'(world) {
    const [z, a] = [await fair(world), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    let goOn = (): void => {};
    const stays = new Promise<void>((resolve) => (goOn = resolve));
    await queue.join(many(a, 5), (name) => (name === '2' ? stays : Promise.resolve()));
    await lease.release();
    await queue.waiting(2);
    expect(queue.served).toEqual(['0', '1', '2']);
    goOn();
    await queue.end();
    await expectNothingLeft(world, z, a);
  },

  async 'those behind a lease that is lost keep their turns, and nothing is left of those before'(
    world,
  ) {
    const [z, a, b, operator] = [
      await fair(world),
      await fair(world),
      await fair(world),
      await world.client(),
    ];
    const queue = new Queue(world);
    const lease = await z.acquire();
    const lost = new Promise<void>((resolve) => {
      const work = async (name: string): Promise<void> => {
        if (name !== 'a2') return;
        await operator.lock.force('k');
        resolve();
      };
      void later(
        queue.join(
          [
            [a, 'a1'],
            [a, 'a2'],
            [a, 'a3'],
            [b, 'b'],
            [a, 'a4'],
          ],
          work,
        ),
      );
    });
    await queue.waiting(5);
    await lease.release();
    await world.finish(lost);
    await queue.end();
    expect(queue.served).toEqual(['a1', 'a2', 'a3', 'b', 'a4']);
    await expectNothingLeft(world, z, a, b);
  },

  async 'a release of which nobody knows whether it ran loses nobody'(world) {
    let troubles = 0;
    const troubled: Wrap = (store) =>
      withPrimitive(store, {
        release: async (claim, keep, passed) => {
          troubles += 1;
          const ran = troubles % 2 === 0 && (await store.lock.release(claim, keep, passed));
          if (troubles > 4) return ran || store.lock.release(claim, keep, passed);
          throw new LockStoreError('Trouble.', { outcome: 'unknown' });
        },
      });
    const [z, a, b] = [await fair(world), await fair(world, troubled), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    await queue.join(
      ['a1', 'a2', 'b1', 'a3', 'a4', 'b2'].map((name) => [name.startsWith('a') ? a : b, name]),
    );
    await lease.release();
    await queue.end();
    expect(queue.served).toEqual(['a1', 'a2', 'b1', 'a3', 'a4', 'b2']);
    await expectNothingLeft(world, z, a, b);
  },

  async 'a process that dies in the middle costs its lease, and its places nobody anything'(world) {
    const [z, a, b] = [
      await fair(world),
      await world.process({ fairness: 'strict', ttl: 300 }),
      await fair(world),
    ];
    const queue = new Queue(world);
    const lease = await z.acquire();
    let inside = (): void => {};
    const reached = new Promise<void>((resolve) => (inside = resolve));
    const callers: Caller[] = [...many(a, 5), [b, 'b']];
    await queue.join(callers, (name) => {
      if (name !== '2') return Promise.resolve();
      inside();
      return new Promise(() => {});
    });
    await lease.release();
    await world.finish(reached);
    await a.crash();
    await world.finish(queue.all.at(-1)!);
    expect(queue.served.at(-1)).toBe('b');
    expect((await world.sight()).type).toBe('none');
  },

  async 'a process that shuts down gives back what it holds, and every place'(world) {
    const [z, a, b] = [await fair(world), await fair(world), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    let inside = (): void => {};
    const reached = new Promise<void>((resolve) => (inside = resolve));
    await queue.join(many(a, 5), (name) => {
      if (name !== '2') return Promise.resolve();
      inside();
      return new Promise(() => {});
    });
    await lease.release();
    await world.finish(reached);
    await world.finish(a.leases.close());
    await (await world.finish(b.acquire())).release();
    expect(queue.served).toEqual(['0', '1', '2']);
    await expectNothingLeft(world, z, b);
  },

  async 'a run is over after its slice: the store is told, and the order stays'(world) {
    const sent = { releases: 0, departures: 0 };
    const [z, a] = [await fair(world), await fair(world, counting(sent))];
    const queue = new Queue(world);
    const lease = await z.acquire();
    const pause = (): Promise<void> =>
      new Promise((resolve) => world.clock.after(SLICE.ms / 2 + 1, resolve));
    await queue.join(many(a, 6), pause);
    await lease.release();
    await queue.end();
    expect(queue.served).toEqual(many(a, 6).map(([, name]) => name));
    expect(sent.releases).toBeGreaterThanOrEqual(3);
  },

  async 'as many callers as may wait are turned away from no queue'(world) {
    const options = { fairness: 'strict', limits: { waitersPerKey: 5 } } as const;
    const [a, b] = [await world.process(options), await world.process(options)];
    const caller = async (process: LockingProcess): Promise<void> => {
      for (let round = 0; round < 20; round += 1) await (await process.acquire()).release();
    };
    await world.finish(Promise.all([a, a, a, a, b, b].map(caller)));
    await expectNothingLeft(world, a, b);
  },

  async 'a lease that is over is passed to nobody'(world) {
    const [z, a] = [await fair(world), await fair(world)];
    const queue = new Queue(world);
    const lease = await z.acquire();
    const outcomes: unknown[] = [];
    for (let at = 0; at < 2; at += 1) {
      const call = async (): Promise<void> => {
        const own = await a.acquire({ ttl: 1_000, renew: false });
        if (at === 0) a.clock.stall(1_500);
        outcomes.push(own.held, await own.release());
      };
      queue.all.push(later(call()));
      await queue.waiting(at + 1);
    }
    await lease.release();
    await world.finish(Promise.all(queue.all));
    expect(outcomes).toEqual([false, false, true, true]);
    await expectNothingLeft(world, z, a);
  },

  async 'a repeated release gives back no lease of who came after'(world) {
    const [z, a, b] = [await fair(world), await fair(world), await world.client()];
    const queue = new Queue(world);
    const lease = await z.acquire();
    const second = later(a.acquire());
    await queue.waiting(1);
    const third = later(a.acquire());
    await queue.waiting(2);
    await lease.release();
    const first = await world.finish(second);
    await first.release();
    const heir = await world.finish(third);
    expect(await first.release()).toBe(true);
    expect(heir.held).toBe(true);
    expect((await b.try(b.claim())).kind).toBe('busy');
    expect(() => first.assertHeld()).toThrow(LeaseLostError);
    await heir.release();
    await expectNothingLeft(world, z, a);
  },
};
