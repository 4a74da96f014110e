import { expect } from '@jest/globals';
import { LeaseLostError, LockStoreError } from '../../lib/engine/errors/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { BUDGET } from '../../lib/engine/client/queue/time-slice.js';
import type { PushListener } from '../../lib/engine/locks/lock-store.js';
import type { AcquireOptions } from '../../lib/engine/options/index.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { atMost, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { Gate } from '../support/gate.js';
import { later } from '../support/later.js';
import { expectNothingLeft } from '../support/nothing-left.js';
import { noting } from '../support/noting.js';
import { inOneSlice } from '../support/one-slice.js';
import { type LockingProcess, type Wrap, withSteps } from '../support/world.js';
import { type Caller, fair, QueueOfCallers, type Work } from './queue-of-callers.js';

/** In strict order the lease goes through neighbouring entries of one process without the store: to the user all is as ever. */
export const batches: Contract = {
  async 'neighbours of one process are served with one release, in their order'(world) {
    const sent: string[] = [];
    const [queue, a] = [await QueueOfCallers.in(world), await fair(world, noting(sent))];
    const callers = many(a, 50);
    await queue.join(callers);
    const from = world.clock.monotonic();
    await queue.begin();
    await queue.end();
    const timeSlices = 1 + Math.floor((world.clock.monotonic() - from) / BUDGET.ms);
    expect(queue.served).toEqual(names(callers));
    const most = Math.min(timeSlices, callers.length / 2); // on a machine so busy that time slices say nothing
    const times = (step: string): number => sent.filter((each) => each === step).length;
    expect(times('release')).toBeLessThanOrEqual(most);
    // On a busy machine an entry may ask once more, and have no answer yet when it is given back: that ask is undone.
    expect(times('leave')).toBeLessThanOrEqual(times('acquire') - callers.length);
    await queue.expectNothingLeft(a);
  },

  async 'who stands between them has its turn between them'(world) {
    const [queue, a, b] = [await QueueOfCallers.in(world), await fair(world), await fair(world)];
    const callers = ['a1', 'a2', 'b1', 'a3', 'b2', 'b3', 'a4', 'a5', 'b4'] as const;
    await queue.run(callers.map((name) => [name.startsWith('a') ? a : b, name] as const));
    expect(queue.served).toEqual(callers);
    await queue.expectNothingLeft(a, b);
  },

  async 'who comes later is served later, though its process has the lock'(world) {
    const [queue, a, b] = [await QueueOfCallers.in(world), await fair(world), await fair(world)];
    let again: Promise<boolean> | undefined;
    await queue.run(
      [
        [a, 'a1'],
        [a, 'a2'],
        [b, 'b'],
      ],
      (name) => {
        if (name !== 'a1') return;
        const call = a.acquire().then((late) => {
          queue.served.push('a1 again');
          return late.release();
        });
        again = later(call);
      },
    );
    await world.finish(again!);
    expect(queue.served).toEqual(['a1', 'a2', 'b', 'a1 again']);
    await queue.expectNothingLeft(a, b);
  },

  async 'a reader between writers is passed over by none of them'(world) {
    const [queue, a] = [await QueueOfCallers.in(world), await fair(world)];
    await queue.run([
      [a, 'w1'],
      [a, 'w2'],
      [a, 'r', { mode: 'shared' }],
      [a, 'w3'],
      [a, 'w4'],
    ]);
    expect(queue.served).toEqual(['w1', 'w2', 'r', 'w3', 'w4']);
    await queue.expectNothingLeft(a);
  },

  async 'fenced and unfenced neighbours, and those of another ttl, keep their order'(world) {
    const [queue, a] = [await QueueOfCallers.in(world), await fair(world)];
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
    const callers = options.map((each, at) => [a, `${at}`, each] as const);
    await queue.run(callers);
    expect(queue.served).toEqual(names(callers));
    await queue.expectNothingLeft(a);
  },

  async 'a lease that is passed on ends no later than it would have'(world) {
    const [queue, a] = [await QueueOfCallers.in(world), await fair(world)];
    const ends = new Map<string, number[]>(); // of each lease of the store's, as its holders see it
    await inOneSlice(() =>
      queue.run(many(a, 20, { ttl: TTL, renew: false }), async (_name, own) => {
        const holder = await world.holder();
        ends.set(holder, [...(ends.get(holder) ?? []), own.expiresAt]);
        a.clock.stall(3);
      }),
    );
    expect(ends.size).toBeLessThan(20);
    for (const seen of ends.values()) expect(Math.max(...seen)).toBe(seen[0]);
  },

  async 'an entry whose answer is still on its way is not passed over'(world) {
    const gate = new Gate();
    const late: Wrap = (store) => {
      let asks = 0;
      return withSteps(store, {
        acquire: (ask) => {
          const answer = store.acquire(ask);
          return (asks += 1) === 2 ? gate.after(answer) : answer;
        },
      });
    };
    const [queue, a] = [await QueueOfCallers.in(world), await fair(world, late)];
    const callers = many(a, 4);
    await queue.run(callers, (name) => name === '1' && gate.open());
    expect(queue.served).toEqual(names(callers));
    await queue.expectNothingLeft(a);
  },

  async 'an entry whose ask got lost is not passed the lease: it may still have an effect'(world) {
    const gate = new Gate();
    const onTheirWay: Promise<unknown>[] = [];
    let answered = 0;
    let first: string | undefined;
    let listener!: PushListener;
    const late: Wrap = (store) =>
      withSteps(store, {
        acquire: async (ask) => {
          first ??= ask.holder;
          if (answered < 3 || ask.holder === first) {
            const answer = await store.acquire(ask);
            answered += 1;
            return answer;
          }
          const sent = { ...ask, wanted: () => true };
          onTheirWay.push(gate.opened.then(() => store.acquire(sent)));
          throw new LockStoreError('The connection was lost.', { outcome: 'unknown' });
        },
        open: (hears) => store.open((listener = hears)),
      });
    const options = { fairness: 'strict', commandTimeout: 1_000 } as const;
    const [queue, a] = [await QueueOfCallers.in(world), await world.process(options, late)];
    const callers = many(a, 3);
    await queue.join(callers);
    await world.until('all are answered', async () => {
      return answered === 3 && (await world.snapshot()).waiting === 3;
    });
    listener.reconnected();
    await queue.begin();
    await queue.end();
    expect(queue.served).toEqual(names(callers));
    expect(onTheirWay.length).toBeGreaterThanOrEqual(2);
    gate.open();
    await world.finish(Promise.all(onTheirWay));
    await world.until('it is free', async () => (await world.snapshot()).type === 'none');
    await queue.expectNothingLeft(a);
  },

  async 'who awaits a condition gives up the entries that had their turns before the lock'(world) {
    const sent: string[] = [];
    const a = await fair(world, noting(sent));
    const isHandedOnInMemory = async (): Promise<boolean> => {
      sent.length = 0;
      const queue = await QueueOfCallers.in(world);
      await queue.run(many(a, 3), (name, lease) => {
        const condition = new Condition(a.locks.conditions, lease as SingleLease, 'met');
        return name === '1' && condition.await({ wait: 1 });
      });
      await queue.expectNothingLeft(a);
      return !sent.slice(0, sent.indexOf('yield')).includes('release');
    };
    for (let tries = 1; !(await isHandedOnInMemory()); tries += 1) {
      expect(tries).toBeLessThan(20); // a busy machine may still ask, and the lock goes on through Redis
    }
    const steps = sent.filter((step) => step === 'leave' || step === 'yield');
    expect(steps.slice(0, 2)).toEqual(['leave', 'yield']); // more leave where an ask was under way
  },

  async 'who gives up before its turn is passed over, and leaves no entry'(world) {
    const [queue, a] = [await QueueOfCallers.in(world), await fair(world)];
    const leaver = new AbortController();
    await queue.join(
      [
        [a, '1'],
        [a, '2', { signal: leaver.signal }],
        [a, '3'],
      ],
      (name) => name === '1' && leaver.abort(),
    );
    await queue.begin();
    await world.finish(Promise.allSettled(queue.all));
    expect(queue.served).toEqual(['1', '3']);
    await queue.expectNothingLeft(a);
  },

  async 'while one stays, those who have had their turns are seen in the queue no longer'(world) {
    const [queue, a] = [await QueueOfCallers.in(world), await fair(world)];
    const stays = new Gate();
    await queue.join(many(a, 5), (name) => name === '2' && stays.opened);
    await queue.begin();
    await world.waiting(2);
    expect(queue.served).toEqual(['0', '1', '2']);
    stays.open();
    await queue.end();
    await queue.expectNothingLeft(a);
  },

  async 'those behind a lease that is lost keep their turns, and nothing is left of those before'(
    world,
  ) {
    const queue = await QueueOfCallers.in(world);
    const [a, b, operator] = [await fair(world), await fair(world), await world.client()];
    const callers = ['a1', 'a2', 'a3', 'b', 'a4'];
    await queue.run(
      callers.map((name) => [name === 'b' ? b : a, name]),
      (name) => name === 'a2' && operator.lock.force('k'),
    );
    expect(queue.served).toEqual(callers);
    await queue.expectNothingLeft(a, b);
  },

  async 'a release of which nobody knows whether it ran loses nobody'(world) {
    let troubles = 0;
    const troubled: Wrap = (store) =>
      withSteps(store, {
        release: async (request, keep, served) => {
          troubles += 1;
          if (troubles > 4) return store.release(request, keep, served);
          if (troubles % 2 === 0) await store.release(request, keep, served);
          throw new LockStoreError('Trouble.', { outcome: 'unknown' });
        },
      });
    const [queue, a, b] = [
      await QueueOfCallers.in(world),
      await fair(world, troubled),
      await fair(world),
    ];
    const callers = ['a1', 'a2', 'b1', 'a3', 'a4', 'b2'];
    await queue.run(callers.map((name) => [name.startsWith('a') ? a : b, name]));
    expect(queue.served).toEqual(callers);
    expect(troubles).toBeGreaterThan(1);
    await queue.expectNothingLeft(a, b);
  },

  async 'those who have had their turns when Redis goes away for longer than their ttl get none again'(
    world,
  ) {
    await inOneSlice(async () => {
      for (const how of ['the last gives it back', 'the last loses it'] as const) {
        const [queue, stays] = [await QueueOfCallers.in(world), new Gate()];
        let [away, failed] = [false, 0];
        const unsent = (): Promise<never> => {
          failed += 1;
          return Promise.reject(new LockStoreError('Redis is away.', { outcome: 'unsent' }));
        };
        const a = await fair(world, (store) =>
          withSteps(store, {
            acquire: (ask) => (away ? unsent() : store.acquire(ask)),
            extend: (requests) => (away ? unsent() : store.extend(requests)),
            leave: (...entries) => (away ? unsent() : store.leave(...entries)),
            release: (...lease) => (away ? unsent() : store.release(...lease)),
          }),
        );
        const callers = many(a, 20, { ttl: 5_000, wait: Infinity });
        callers.push([a, 'behind', { wait: Infinity }]); // of another ttl: in no batch with them
        await queue.join(callers, (name) => {
          if (name === '0') away = true;
          return name === '19' && how === 'the last loses it' && stays.opened;
        });
        await queue.begin();
        await world.until('the last has its turn', () => failed > 0 || queue.served.length === 20);
        await world.pass(20_000);
        away = false;
        stays.open();
        const from = a.clock.monotonic();
        await queue.end();
        expect(a.clock.monotonic() - from).toBeLessThan(atMost(world, 5_000));
        expect(queue.served).toEqual(names(callers));
        await queue.expectNothingLeft(a);
      }
    });
  },

  async 'a process that dies in the middle costs its lease, and its entries nobody anything'(
    world,
  ) {
    const [queue, b] = [await QueueOfCallers.in(world), await fair(world)];
    const a = await world.process({ fairness: 'strict', ttl: TTL });
    const inside = new Gate();
    await queue.join([...many(a, 5), [b, 'b', { wait: Infinity }]], stuckAt('2', inside));
    await queue.begin();
    await world.finish(inside.opened);
    const last = await world.holder();
    await a.crash();
    const from = b.clock.monotonic();
    await world.silence(-TTL); // when its lease ends it has been dead for no time
    await world.pass(TTL);
    const next = new Set<string>();
    await world.until('the other process was served', async () => {
      next.add(await world.holder());
      return queue.served.at(-1) === 'b';
    });
    const dead = [...next].filter((name) => name !== last && name.startsWith(a.store.processId));
    if (world.hearsItself) expect(dead).toEqual([]);
    const within = TTL + (world.hearsItself ? 2_000 : 5_000);
    expect(b.clock.monotonic() - from).toBeLessThan(atMost(world, within));
    await world.until('it is given back', async () => (await world.snapshot()).type === 'none');
  },

  async 'a process that shuts down gives back what it holds, and every entry'(world) {
    const [queue, a, b] = [await QueueOfCallers.in(world), await fair(world), await fair(world)];
    const inside = new Gate();
    await queue.join(many(a, 5), stuckAt('2', inside));
    await queue.begin();
    await world.finish(inside.opened);
    await world.finish(a.locks.close());
    await (await world.finish(b.acquire())).release();
    expect(queue.served).toEqual(['0', '1', '2']);
    await queue.expectNothingLeft(b);
  },

  async 'a batch is over after its time slice: the store is told, and the order stays'(world) {
    const sent: string[] = [];
    const [queue, a] = [await QueueOfCallers.in(world), await fair(world, noting(sent))];
    const callers = many(a, 6);
    const pause = (): Promise<void> =>
      new Promise((resolve) => world.clock.after(BUDGET.ms / 2 + 1, resolve));
    await queue.run(callers, pause);
    expect(queue.served).toEqual(names(callers));
    expect(sent.filter((step) => step === 'release').length).toBeGreaterThanOrEqual(3);
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
    const [queue, a] = [await QueueOfCallers.in(world), await fair(world)];
    const outcomes: unknown[] = [];
    await queue.run(many(a, 2, { ttl: TTL, renew: false }), async (name, own) => {
      if (name === '0') a.clock.stall(1.5 * TTL);
      outcomes.push(own.held, await own.release());
    });
    expect(outcomes).toEqual([false, false, true, true]);
    await queue.expectNothingLeft(a);
  },

  async 'a repeated release gives back no lease of who came after'(world) {
    const [queue, a, b] = [await QueueOfCallers.in(world), await fair(world), await world.client()];
    const gaveBack = new Gate();
    const leases: Lease[] = [];
    await queue.join(many(a, 2), async (name, own) => {
      leases.push(own);
      if (name === '1') await gaveBack.opened;
    });
    await queue.begin();
    await world.until('the second has it', () => leases.length === 2);
    const [first, successor] = leases as [Lease, Lease];
    expect(await first.release()).toBe(true);
    expect(successor.held).toBe(true);
    expect((await b.try(b.request())).kind).toBe('busy');
    expect(() => first.assertHeld()).toThrow(LeaseLostError);
    gaveBack.open();
    await queue.end();
    await queue.expectNothingLeft(a);
  },
};

/** So many callers of one process, by their numbers. */
function many(process: LockingProcess, count: number, options: AcquireOptions = {}): Caller[] {
  return Array.from({ length: count }, (_, at) => [process, `${at}`, options] as const);
}

function names(callers: readonly Caller[]): string[] {
  return callers.map(([, name]) => name);
}

/** The caller of this name stays there for ever. */
function stuckAt(stays: string, inside: Gate): Work {
  return (name) => {
    if (name !== stays) return undefined;
    inside.open();
    return new Promise(() => {});
  };
}
