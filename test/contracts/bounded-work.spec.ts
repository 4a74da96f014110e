import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { type Polled, QueuePoller } from '../../lib/engine/client/queue/queue-poller.js';
import type { Signalled } from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { READER } from '../../lib/engine/options/index.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { kinds } from '../support/kinds.js';
import { inConditions, inScripts } from '../support/plant.js';
import { type Topology, topologies } from '../support/topologies.js';
import type { World } from '../support/world.js';
import {
  AWAITING,
  BATCH,
  countOf,
  crowd,
  limits,
  queue,
  type Script,
  scriptsOf,
  served,
  WAITING,
  workOf,
} from './crowds.js';

let redis: Topology;

beforeAll(async () => {
  redis = await topologies['one Redis']!();
});
afterAll(() => redis.stop());

const onRedis = (check: (world: World) => Promise<void>) => () => inWorld(redis, check);

describe('who awaits a condition', () => {
  it(
    'costs one signal nothing, however many there are, of this condition and of others',
    onRedis(async (world) => {
      const [a, teller] = [await world.client({ limits }), await world.client({ limits })];
      const signal = async (): Promise<Script> => {
        const { request } = await teller.hold();
        const scripts = await scriptsOf(world, async () => {
          expect(await teller.lock.signal(request, 'changed', 1)).toEqual({ woken: 1 });
        });
        await world.flush();
        return scripts.at(-1)!; // before it the server may have said that it does not know the script
      };
      await crowd(a, 10);
      const few = await signal();
      await crowd(a, AWAITING / 2, 'another');
      await crowd(a, AWAITING / 2);
      const many = await signal();
      expect(many.map(([command]) => command)).toEqual(few.map(([command]) => command));
      expect(many.length).toBeLessThan(12);
      for (const [command, , ...operands] of many.filter(([name]) => /range/i.test(name!))) {
        const bounded = operands.includes('LIMIT') || operands.slice(0, 2).join() === '-1,-1';
        expect({ command, operands, bounded }).toMatchObject({ bounded: true });
      }
    }),
  );

  it(
    'is woken by one signalAll with all others, in their order, by short scripts',
    onRedis(async (world) => {
      const [client, teller] = [await world.client({ limits }), await world.process({ limits })];
      const requests = await crowd(client, AWAITING);
      const lease = await world.finish(teller.acquire({ ttl: 60_000 }));
      const changed = new Condition(teller.locks.conditions, lease as SingleLease, 'changed');
      const scripts = await scriptsOf(world, async () => {
        expect(await world.finish(changed.signalAll())).toBe(AWAITING);
      });
      const waking = scripts.filter((script) => countOf(script, 'zadd') > 0);
      expect(waking.length).toBeGreaterThanOrEqual(AWAITING / 125);
      for (const script of waking) {
        expect(script.length).toBeLessThan(12);
        expect(Math.max(...script.map((command) => command.length))).toBeLessThan(260);
      }
      expect((await world.snapshot()).awaiting).toBe(0);
      await lease.release();
      expect(await served(world, client, AWAITING)).toEqual(requests.map(({ holder }) => holder));
      expect(await world.snapshot()).toMatchObject({ type: 'none', waiting: 0, awaiting: 0 });
    }),
    120_000,
  );

  it(
    'after the first step of a signalAll is woken by none of its later steps',
    onRedis(async (world) => {
      const [a, late, teller] = [await world.client(), await world.client(), await world.client()];
      const first = await crowd(a, 250);
      const { request } = await teller.hold();
      const all = Number.MAX_SAFE_INTEGER;
      const step = (await teller.lock.signal(request, 'changed', all)) as Signalled;
      expect(step).toMatchObject({ woken: 125, last: expect.any(String) });
      await a.lock.leave(first[0]!); // a signal that was given up goes on to the next
      await teller.lock.force('k');
      const rest = teller.request();
      expect((await teller.ask(rest)).kind).toBe('queued');
      await served(world, a, 125);
      await world.until('the teller is next', () => teller.granted(rest) !== undefined);
      const came = {
        ...late.request({ ttl: 60_000 }),
        condition: { name: 'changed', over: false },
      };
      await late.ask(came, { former: rest });
      const { request: again } = await teller.hold();
      expect(await teller.lock.signal(again, 'changed', all, step.last)).toEqual({ woken: 124 });
      expect((await world.snapshot()).awaiting).toBe(1);
    }),
  );

  it(
    'and was not reached by a signaller that ended half-way is woken by the next, in order',
    onRedis(async (world) => {
      const [a, dead, teller] = [await world.client(), await world.client(), await world.process()];
      const requests = await crowd(a, 600);
      const { request } = await dead.hold();
      expect(await dead.lock.signal(request, 'changed', 600)).toMatchObject({ woken: 125 });
      await teller.locks.force('k');
      const lease = await world.finish(
        (async () => {
          const next = teller.acquire({ wait: 60_000 });
          await served(world, a, 125);
          return next;
        })(),
      );
      const changed = new Condition(teller.locks.conditions, lease as SingleLease, 'changed');
      expect(await world.finish(changed.signalAll())).toBe(475);
      await lease.release();
      const holders = requests.map(({ holder }) => holder);
      expect(await served(world, a, 600, 125)).toEqual(holders);
    }),
    180_000,
  );

  it(
    'behind a thousand who died is woken by a signal that was passed on, by short scripts',
    onRedis(async (world) => {
      const [a, dead, teller] = [await world.client(), await world.client(), await world.client()];
      const [first] = await crowd(a, 1);
      for (let awaiting = 0; awaiting < 1_000; awaiting += 50) {
        await crowd(dead, 50);
        await a.ask(first!); // it lives, however long a busy machine takes for so many
      }
      const [last] = await crowd(a, 1);
      const { request } = await teller.hold();
      await world.silence(60_000);
      await a.ask(last!);
      await world.silence(-50_000); // and will for as long
      expect(await teller.lock.signal(request, 'changed', 1)).toEqual({ woken: 1 });
      a.onKept = () => void a.ask(last!).catch(() => {}); // as the process's poll does
      const scripts = await scriptsOf(world, async () => {
        await a.lock.leave(first!);
        expect((await world.snapshot()).awaiting).toBe(1_001 - 125);
        await teller.lock.release(request, 0);
        a.onKept(); // one poll; what is left goes on by itself
        await world.until('it is granted', () => a.granted(last!) !== undefined);
      });
      expect(Math.max(...scripts.map(({ length }) => length))).toBeLessThan(100);
      for (const script of scripts) {
        const removed = script.filter(([name]) => /^zrem$/i.test(name!)).flat().length;
        expect(removed).toBeLessThan(4 * 125 + 50);
      }
      expect((await world.snapshot()).awaiting).toBe(0);
    }),
    60_000,
  );

  it('is told apart where two conditions have the same part of the queue', async () => {
    const same = { functions: { band_of: `function() return right('any') end` } };
    const undo = [
      inConditions(['await', 'ask', 'leave', 'signal'], same),
      inScripts(['acquire', 'release', 'leave', 'force'], same),
    ].map((plant) => plant.sow!());
    try {
      await inWorld(redis, async (world) => {
        const [a, teller] = [await world.client(), await world.client()];
        const [first] = [await crowd(a, 300, 'another'), await crowd(a, 1, 'another')];
        const [mine] = await crowd(a, 1);
        await crowd(a, 300, 'another');
        const { request } = await teller.hold();
        expect(await teller.lock.signal(request, 'changed', 9)).toEqual({ woken: 1 });
        expect((await world.snapshot()).awaiting).toBe(601);
        await teller.lock.release(request, 0);
        await world.until('it is granted', () => a.granted(mine!) !== undefined);
        expect(a.granted(first[0]!)).toBeUndefined();
      });
    } finally {
      for (const each of undo) each();
    }
  });
});

describe.each([
  ['readers', READER],
  ['permits', { permits: 10_000, count: 1 }],
  ['leases of two permits', { permits: 10_000, count: 2 }],
] as const)('%s behind one who holds all', (_kind, share) => {
  const all = share === READER ? undefined : { ...share, count: share.permits };

  it(
    'come in by short scripts, each of which has the next asked for at once',
    onRedis(async (world) => {
      const [holder, client] = [await world.client(), await world.client()];
      const hints = new Map<LockRequest, Promise<unknown>>();
      const { request } = await holder.hold({ share: all, ttl: 60_000 });
      const requests = await queue(client, WAITING, share);
      await world.silence(-60_000); // on a busy machine the step before took longer than a process that waits may be silent
      client.onKept = () => {
        const first = requests.find((each) => !client.told.has(each.holder) && !hints.has(each));
        if (first) hints.set(first, client.ask(first)); // as the process's poll does
      };
      const scripts = await scriptsOf(world, async () => {
        await holder.lock.release(request, 0);
        await world.until('all are in', () => client.grants.length + hints.size >= WAITING);
        await Promise.all(hints.values());
      });
      expect((await world.snapshot()).waiting).toBe(0);
      const grants = scripts.map((script) => countOf(script, 'publish'));
      const several = share.count > 1;
      const most = several ? 45 : 80;
      expect(Math.max(...grants)).toBeLessThanOrEqual(most + 1);
      expect(hints.size).toBeLessThanOrEqual(Math.ceil(WAITING / (several ? 40 : 80)) + 2);
      expect(Math.max(...scripts.map(({ length }) => length))).toBeLessThan(1_400);
    }),
    60_000,
  );

  it('come in without waiting for a poll', async () => {
    const memory = await topologies['memory']!();
    await inWorld(memory, async (world) => {
      const [a, b] = [await world.process(), await world.process({ fairness: 'strict' })];
      const lease = await a.acquire({ share: all });
      const leases = Array.from({ length: 300 }, () => b.acquire({ share, wait: 60_000 }));
      await world.waiting(300);
      const from = world.clock.monotonic();
      await lease.release();
      const held = await world.finish(Promise.all(leases));
      expect(world.clock.monotonic() - from).toBeLessThan(300); // the soonest poll is due after 700
      for (const each of held) void each.release();
    });
  });
});

it.each([
  ['readers', READER],
  ['permits', { permits: 10_000, count: 1 }],
] as const)(
  '%s from whom a lock is forced lose it by short scripts, and are told',
  (_kind, share) =>
    onRedis(async (world) => {
      const [client, operator] = [await world.client(), await world.client()];
      for (let at = 0; at < WAITING; at += BATCH) {
        const batch = Array.from({ length: BATCH }, () => client.hold({ share, ttl: 60_000 }));
        await Promise.all(batch);
      }
      const holders = Math.ceil(WAITING / BATCH) * BATCH;
      const alone = share === READER ? undefined : { permits: 1, count: 1 };
      const { request: next } = await operator.queue({ share: alone });
      const scripts = await scriptsOf(world, async () => {
        expect(await operator.lock.force('k')).toBe(true);
      });
      for (const script of scripts) expect(script.length).toBeLessThan(40);
      expect(scripts.filter((script) => countOf(script, 'type') > 0)).toHaveLength(holders / 250);
      await world.until('the next is told', () => operator.granted(next) !== undefined);
      await world.until('all are told', () => client.forced.length === holders);
      expect(new Set(client.forced).size).toBe(holders);
    })(),
  60_000,
);

describe('permits of one lease', () => {
  it(
    'cost the same few commands, however many they are',
    onRedis(async (world) => {
      const [client, other] = [await world.client(), await world.client()];
      const cycle = async (count: number, permits: number, minHold: number): Promise<Script[]> => {
        const share = { permits, count };
        const request = client.request({ share });
        const next = other.request({ share });
        const scripts = await scriptsOf(world, async () => {
          expect((await client.ask(request)).kind).toBe('held');
          expect(await client.extend([{ ...request, ttl: 20_000 }])).toEqual([20_000]);
          expect((await other.ask(next)).kind).toBe('queued');
          expect(await client.lock.release(request, 0)).toBe(true);
          await world.until('the next is told', () => other.granted(next) !== undefined);
          expect(await other.lock.release(next, minHold)).toBe(true);
        });
        await world.flush();
        return scripts.filter(({ length }) => length > 0);
      };
      for (const minHold of [0, 1_000]) {
        await cycle(2, 3, minHold); // now the server knows the scripts
        const few = await cycle(2, 3, minHold);
        const many = await cycle(10_000, 10_000, minHold);
        expect(many.length).toBe(few.length);
        const more = many.map((script, nth) => workOf(script) - workOf(few[nth]!));
        expect(Math.max(...more)).toBeLessThan(120); // two operands for each power of two, and bands to look through
      }
    }),
  );

  it(
    'count as many as they are, beside leases of other sizes, and until each is over',
    onRedis(async (world) => {
      const client = await world.client();
      const permits = 10_000;
      const sizes = [1, 2, 3, 4, 7, 8, 100, 1_023, 1_024, 1_025, 4_096];
      let free = permits;
      const held: LockRequest[] = [];
      for (const count of sizes) {
        held.push((await client.hold({ share: { permits, count }, ttl: 60_000 })).request);
        free -= count;
        const tooMany = client.request({ share: { permits, count: free + 1 } });
        expect((await client.try(tooMany)).kind).toBe('busy');
        const all = client.request({ share: { permits, count: free } });
        expect((await client.try(all)).kind).toBe('held');
        expect(await client.lock.release(all, 0)).toBe(true);
      }
      expect((await world.snapshot()).holders).toHaveLength(100); // as many as are named
      const short = client.request({ share: { permits, count: free }, ttl: 5_000 });
      expect((await client.ask(short)).kind).toBe('held');
      const one = client.request({ share: { permits, count: 1 } });
      expect((await client.try(one)).kind).toBe('busy');
      await world.pass(5_001);
      const again = client.request({ share: short.share, ttl: 60_000 });
      expect((await client.try(again)).kind).toBe('held');
      expect(await client.lock.release(short, 0)).toBe(false);
      for (const request of [...held, again])
        expect(await client.lock.release(request, 0)).toBe(true);
      expect((await world.keys()).map(({ name }) => name).join()).not.toContain('holders');
    }),
  );
});

it.each([
  ['locks', undefined],
  ['readers', READER],
  ['leases of 10,000 permits', { permits: 10_000, count: 10_000 }],
] as const)('%s are renewed by short scripts, however many they are', (_kind, share) =>
  onRedis(async (world) => {
    const client = await world.client();
    const requests = Array.from({ length: 600 }, (_, at) =>
      client.request({ key: `k${at}`, share }),
    );
    await Promise.all(requests.map((request) => client.ask(request)));
    const longer = requests.map((request) => ({ ...request, ttl: 60_000 }));
    const scripts = await scriptsOf(world, async () => {
      expect(new Set(await client.extend(longer))).toEqual(new Set([60_000]));
    });
    expect(Math.max(...scripts.map(({ length }) => length))).toBeLessThan(1_400);
    expect(Math.max(...scripts.map(workOf))).toBeLessThan(8_000);
  })(),
);

it(
  'leases that were over long since go a few at a time, and are in nobody’s way',
  onRedis(async (world) => {
    const [client, next] = [await world.client(), await world.client()];
    for (const [count, times] of [
      [1, WAITING],
      [5, 100],
    ] as const) {
      const share = { permits: 10_000, count };
      const dying = Array.from({ length: times }, () => client.hold({ share, ttl: 5_000 }));
      await Promise.all(dying);
    }
    const share = { permits: 10_000, count: 9_999 };
    const { request: living } = await client.hold({ share: { ...share, count: 1 }, ttl: 60_000 });
    await world.pass(5_001);
    const scripts = await scriptsOf(world, async () => {
      const { request } = await next.hold({ share, ttl: 60_000 });
      for (let times = 0; times < (WAITING + 100) / 100; times += 1) {
        expect(await next.extend([request])).toEqual([expect.any(Number)]);
        expect(await next.lock.release(request, 0)).toBe(true);
        expect((await next.ask(request)).kind).toBe('held');
      }
    });
    for (const script of scripts) {
      expect(script.length).toBeLessThan(60);
      const removed = script.filter(([name]) => /^zrem/i.test(name!));
      expect(removed.flat().length).toBeLessThan(420);
    }
    const { control, prefix } = world.redis!;
    expect(await control.zcard(`{${prefix}k}:holders`)).toBeLessThan(20);
    expect(await client.lock.release(living, 0)).toBe(true);
  }),
  60_000,
);

it(
  'many who come in by releases that leave together do so by a short script',
  onRedis(async (world) => {
    const [holder, client] = [await world.client(), await world.client()];
    const keys = Array.from({ length: 6 }, (_, at) => `k${at}`);
    const held = await Promise.all(keys.map((key) => holder.hold({ key, ttl: 60_000 })));
    for (const key of keys) {
      const readers = Array.from({ length: 100 }, () =>
        client.request({ key, share: READER, ttl: 60_000 }),
      );
      await Promise.all(readers.map((request) => client.ask(request)));
    }
    await world.noHurry();
    const scripts = await scriptsOf(world, async () => {
      await Promise.all(held.map(({ request }) => holder.lock.release(request, 0)));
      await world.noHurry();
    });
    const merged = scripts.filter((script) => countOf(script, 'del') > 1);
    expect(merged.length).toBeGreaterThan(0);
    for (const script of merged) expect(countOf(script, 'publish')).toBeLessThan(150);
    for (const key of keys) expect((await world.snapshot(key)).remaining).toBeGreaterThan(0);
  }),
  60_000,
);

it('a hint that comes while an ask is under way is not forgotten', async () => {
  const clock = new ManualClock();
  const poller = new QueuePoller(clock, () => {});
  const asked: number[] = [];
  const entry = {
    rank: 5,
    polled: false,
    request: { ttl: 60_000, enqueuedAt: '1' },
    ask: () => void asked.push(clock.monotonic()),
  } as unknown as Polled;
  poller.add(entry, -1);
  await clock.advance(1_100);
  expect(asked).toHaveLength(1);
  poller.comesFreeIn(0);
  await clock.advance(10);
  poller.add(entry, -1); // the answer, which was given before
  await clock.advance(10);
  expect(asked).toHaveLength(2);
  poller.add(entry, -1);
  await clock.advance(600);
  expect(asked).toHaveLength(2);
});

async function inWorld(topology: Topology, check: (world: World) => Promise<void>): Promise<void> {
  const world = await topology.world(kinds['lock']!);
  world.patience = 30_000;
  try {
    await check(world);
  } finally {
    await world.close();
  }
}
