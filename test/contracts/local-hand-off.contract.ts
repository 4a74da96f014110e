import { expect } from '@jest/globals';
import { BUDGET } from '../../lib/engine/client/queue/time-slice.js';
import {
  type CommandOutcome,
  LeaseLostError,
  LockNotAcquiredError,
  LockShutdownError,
  LockStoreError,
} from '../../lib/engine/errors/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { Answer } from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import type { AcquireOptions } from '../../lib/engine/options/index.js';
import { atMost, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { Gate } from '../support/gate.js';
import { expectGrowing } from '../support/growing.js';
import { checkHistory, HistoryRecorder } from '../support/history.js';
import { later } from '../support/later.js';
import { expectNothingLeft } from '../support/nothing-left.js';
import { noting } from '../support/noting.js';
import { type LockingProcess, type World, type Wrap, withSteps } from '../support/world.js';

/** The most callers of one process that a grant serves: those it is passed to, and the first. */
const TURN = 1 + BUDGET.handOffs;

export const localHandOff: Contract = {
  async 'the callers of a process are served in the order in which they came'(world) {
    const a = await world.process();
    const lease = await a.acquire();
    const served: string[] = [];
    const callers = many(3 * TURN + 50);
    const all = queueUp(a, served, callers);
    await lease.release();
    await world.finish(Promise.all(all));
    expect(served).toEqual(names(callers));
    await expectNothingLeft(world, a);
  },

  async 'the lock goes from caller to caller with far fewer commands than sections'(world) {
    const steps: string[] = [];
    const [z, a] = [await world.process(), await world.process({}, noting(steps))];
    const lease = await z.acquire();
    const all = queueUp(a, [], many(500));
    await world.waiting(1);
    await lease.release();
    await world.finish(Promise.all(all));
    expect(steps.length).toBeLessThan(100);
  },

  async 'a process has one entry in the queue, however many of its callers wait'(world) {
    const [z, a] = [await world.process(), await world.process()];
    const lease = await z.acquire();
    const all = queueUp(a, [], many(50));
    await world.waiting(1);
    expect(a.locks.load.waiting).toBe(50);
    await world.elapse(50);
    expect((await world.snapshot()).waiting).toBe(1);
    await lease.release();
    await world.finish(Promise.all(all));
  },

  async 'two hot processes have their turns again and again'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const callers = [a, a, a, a, b, b, b, b].map((process) => [process] as const);
    const turns = await contend(
      world,
      callers.map(([process]) => [process]),
      {
        sections: 200,
        ms: 2,
      },
    );
    const lengths = stretches(turns.map(({ caller }) => caller < 4));
    expect(Math.max(...lengths)).toBeLessThanOrEqual(6); // 10 ms, and the section that began in them
    expect(lengths.length).toBeGreaterThanOrEqual(Math.floor(200 / 6));
    const shares = callers.map((_, at) => turns.filter(({ caller }) => caller === at).length);
    expect(Math.min(...shares)).toBeGreaterThan(10);
  },

  'a hot process whose sections take no time lets another in after the hand-offs of a time slice': (
    world,
  ) => hurry(world, {}),

  'a hot process without fencing tokens lets another in after the hand-offs of a time slice': (
    world,
  ) => hurry(world, { fencing: false }),

  async 'tokens grow from caller to caller, from turn to turn and over processes'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const callers = [a, a, a, b, b, b].map((process): [LockingProcess] => [process]);
    const turns = await contend(world, callers, { sections: 4 * TURN, ms: 0 });
    turns.push(...(await contend(world, callers, { sections: 60, ms: 1 })));
    expect(new Set(turns.map(({ caller }) => caller)).size).toBe(6);
    expectGrowing(turns.map(({ token }) => token!));
  },

  async 'tokens grow also when so many are reserved that each grant gets but one'(world) {
    const [a, b, greedy] = [await world.process(), await world.process(), await world.client()];
    const callers = [a, a, a, b, b, b].map((process): [LockingProcess] => [process]);
    const { request } = await greedy.hold({ tokenBlock: 99_950 });
    await greedy.lock.release(request, 0);
    const turns = await contend(world, callers, { sections: 100, ms: 0 });
    expectGrowing(turns.map(({ token }) => token!));
  },

  async 'tokens grow although the server lost everything between two sections'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const callers = [a, a, a, b, b, b].map((process): [LockingProcess] => [process]);
    const tokens: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const turns = await contend(world, callers, { sections: 2 * TURN, ms: 0 });
      tokens.push(...turns.map(({ token }) => token!));
      await expectNothingLeft(world, a, b);
      await world.elapse(101); // reserved tokens may lead the server's clock by 100 ms
      await world.flush();
    }
    expectGrowing(tokens);
  },

  async 'no two leases overlap over passes, turns and processes'(world) {
    const recorder = new HistoryRecorder(() => world.clock.monotonic());
    const processes = await Promise.all([1, 2, 3].map(() => world.process({}, recorder.watch)));
    const work = (): Promise<void> =>
      new Promise((resolve) => world.clock.after(Math.random() * 3, resolve));
    const caller = async (process: LockingProcess): Promise<void> => {
      for (let round = 0; round < 4; round += 1) await recorder.run(process, {}, work);
    };
    const callers = processes.flatMap((process) => Array.from({ length: 10 }, () => process));
    await world.finish(Promise.all(callers.map(caller)));
    checkHistory(recorder.history, { sections: 120 });
  },

  async 'a lock that is to be held for a minimum time is passed to nobody before'(world) {
    const a = await world.process();
    const from = world.clock.monotonic(); // the store grants it between this and the next line
    const lease = await a.acquire({ minHold: 60 });
    const before = await world.holder();
    const wait = later(a.acquire());
    await lease.release();
    const successor = await world.finish(wait);
    expect(world.clock.monotonic() - from).toBeGreaterThanOrEqual(58);
    expect(await world.holder()).not.toBe(before);
    await successor.release();
  },

  async 'who wants a much shorter lease than is left gets its own, which ends by itself'(world) {
    const a = await world.process();
    const lease = await a.acquire({ ttl: 30_000 });
    const before = await world.holder();
    const wait = later(a.acquire({ ttl: 500, renew: false }));
    const third = later(a.acquire({ ttl: 30_000 }));
    await lease.release();
    const short = await world.finish(wait);
    const { holder, remaining } = await world.snapshot();
    expect(holder).not.toBe(before);
    expect(remaining).toBeLessThanOrEqual(500);
    await world.pass(500);
    const successor = await world.finish(third);
    expect(short.held).toBe(false);
    expect(() => short.assertHeld()).toThrow(LeaseLostError);
    await world.pass(1_000);
    expect(successor.held).toBe(true);
    await successor.release();
  },

  async 'who wants a much longer lease than is left gets its own'(world) {
    const a = await world.process();
    const lease = await a.acquire({ ttl: TTL, renew: false });
    const before = await world.holder();
    const wait = later(a.acquire({ ttl: 60 * TTL, renew: false }));
    a.clock.stall(TTL - 2_500);
    await lease.release();
    const long = await world.finish(wait);
    const { holder, remaining } = await world.snapshot();
    expect(holder).not.toBe(before);
    expect(remaining).toBeGreaterThan(2 * TTL);
    await long.release();
  },

  async 'who comes first after another has left has no longer lease than it asked for'(world) {
    const [z, a] = [await world.process(), await world.process()];
    const lease = await z.acquire();
    const controller = new AbortController();
    void later(a.acquire({ ttl: 30_000, signal: controller.signal }));
    const short = later(a.acquire({ ttl: 200, renew: false }));
    const last = later(a.acquire());
    await world.waiting(1);
    controller.abort();
    await lease.release();
    const from = world.clock.monotonic();
    const held = await world.finish(short);
    expect(held.expiresAt - a.clock.wall()).toBeLessThanOrEqual(200);
    const successor = await world.finish(last);
    expect(held.held).toBe(false);
    expect(world.clock.monotonic() - from).toBeLessThan(atMost(world, 1_000));
    await successor.release();
  },

  async 'a lease is passed on with no more time than is left of it'(world) {
    const a = await world.process();
    const lease = await a.acquire({ renew: false });
    a.clock.stall(3);
    const wait = later(a.acquire({ renew: false }));
    await lease.release();
    const successor = await world.finish(wait);
    const { remaining } = await world.snapshot();
    expect(successor.expiresAt - a.clock.wall()).toBeLessThanOrEqual(remaining);
    await successor.release();
  },

  async 'a lease that is over is passed to nobody'(world) {
    const a = await world.process();
    const lease = await a.acquire({ ttl: TTL, renew: false });
    const before = await world.holder();
    const wait = later(a.acquire({ ttl: TTL }));
    a.clock.stall(1.5 * TTL);
    expect(await world.finish(lease.release())).toBe(false);
    const successor = await world.finish(wait);
    expect(successor.held).toBe(true);
    expect(await world.holder()).not.toBe(before);
    await successor.release();
  },

  async 'a lease that may have ended while the machine slept is passed to nobody'(world) {
    const a = await world.process();
    const lease = await a.acquire();
    const before = await world.holder();
    const wait = later(a.acquire());
    a.clock.sleep(60_000);
    await lease.release();
    const successor = await world.finish(wait);
    expect(successor.held).toBe(true);
    expect(await world.holder()).not.toBe(before);
    await successor.release();
  },

  async 'a lease is passed to nobody while it is being downgraded'(world) {
    const gate = new Gate();
    const slow: Wrap = (store) =>
      withSteps(store, { downgrade: (request) => gate.after(store.downgrade(request)) });
    const [a, b] = [await world.process({}, slow), await world.process()];
    const lease = await a.acquire();
    const next = later(a.acquire());
    const downgraded = lease.downgrade();
    await lease.release();
    const successor = await world.finish(next);
    await expect(b.acquire({ mode: 'shared', wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    gate.open();
    await expect(downgraded).rejects.toThrow(LeaseLostError);
    await successor.release();
    await expectNothingLeft(world, a, b);
  },

  async 'a lease is passed to nobody while it is being extended'(world) {
    const gate = new Gate();
    const slow: Wrap = (store) =>
      withSteps(store, { extend: (requests) => gate.after(store.extend(requests)) });
    const a = await world.process({ ttl: 5_000 }, slow);
    const lease = await a.acquire();
    const next = later(a.acquire());
    const extended = lease.extend('1h');
    await lease.release();
    const successor = await world.finish(next);
    expect((await world.snapshot()).remaining).toBeLessThanOrEqual(5_000);
    gate.open();
    await expect(extended).rejects.toThrow(LeaseLostError);
    await successor.release();
    await expectNothingLeft(world, a);
  },

  async 'a lease that another may have got is not passed on while the server is asked'(world) {
    const gate = new Gate();
    let asked = false;
    const [a, b, operator] = [
      await world.process({}, (store) =>
        withSteps(store, {
          extend: async (requests) => {
            asked = true;
            await gate.opened;
            return store.extend(requests);
          },
        }),
      ),
      await world.process(),
      await world.client(),
    ];
    const lease = await a.acquire();
    const other = later(b.acquire());
    await world.waiting(1);
    await operator.lock.force('k');
    const winner = await world.finish(other);
    await world.until('the old holder asks', () => asked);
    let entered = false;
    const wait = later(a.acquire());
    void wait.then(
      () => (entered = true),
      () => {},
    );
    void lease.release();
    await world.waiting(1);
    expect(entered).toBe(false);
    expect(winner.held).toBe(true);
    gate.open();
    await winner.release();
    await (await world.finish(wait)).release();
  },

  async 'who gives up waiting takes nobody with it'(world) {
    const [z, a] = [await world.process(), await world.process()];
    const lease = await z.acquire();
    const served: string[] = [];
    const [first, third] = [new AbortController(), new AbortController()];
    const [one, two, three] = queueUp(a, served, [
      ['one', { signal: first.signal }],
      ['two'],
      ['three', { signal: third.signal }],
    ]);
    await world.waiting(1);
    const [four, five] = queueUp(a, served, [['four', { wait: 60 }], ['five']]);
    const reason = new Error('enough');
    first.abort(reason);
    third.abort(reason);
    await expect(one).rejects.toBe(reason);
    await expect(three).rejects.toBe(reason);
    await expect(world.finish(four!)).rejects.toThrow(LockNotAcquiredError);
    await lease.release();
    await world.finish(Promise.all([two, five]));
    expect(served).toEqual(['two', 'five']);
    await expectNothingLeft(world, a, z);
  },

  async 'who makes its lease longer makes nobody else’s longer'(world) {
    const a = await world.process();
    const lease = await a.acquire({ ttl: TTL });
    await lease.extend(60 * TTL);
    const wait = later(a.acquire({ ttl: TTL }));
    await lease.release();
    const successor = await world.finish(wait);
    expect(successor.expiresAt - a.clock.wall()).toBeLessThanOrEqual(TTL);
    expect((await world.snapshot()).remaining).toBeLessThanOrEqual(TTL);
    await successor.release();
  },

  async 'who loses the lock to an operator takes nobody with it'(world) {
    const [a, operator] = [await world.process(), await world.client()];
    const lease = await a.acquire();
    const [two, three] = [later(a.acquire()), later(a.acquire())];
    await operator.lock.force('k');
    const second = await world.finish(two);
    await world.until('the first is told', () => lease.signal.aborted);
    expect(lease.held).toBe(false);
    expect(second.held).toBe(true);
    expect(second.signal.aborted).toBe(false);
    expect(await lease.release()).toBe(false);
    expect(second.held).toBe(true);
    expect(await second.release()).toBe(true);
    await (await world.finish(three)).release();
    await expectNothingLeft(world, a);
  },

  async 'those who wait behind a lease that is lost get the lock, in their order'(world) {
    const a = await world.process();
    const lease = await a.acquire({ ttl: 100, renew: false });
    const served: string[] = [];
    const callers = many(20);
    const all = queueUp(a, served, callers);
    await world.finish(Promise.all(all));
    expect(served).toEqual(names(callers));
    // A clock that differs by a rounding just before the end makes the process ask Redis, whose answer comes after the next grant's.
    await world.until('the first is told', () => lease.signal.aborted);
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
    await expectNothingLeft(world, a);
  },

  async 'the last waiter that leaves takes the entry out of the queue'(world) {
    const [z, a] = [await world.process(), await world.process()];
    const lease = await z.acquire();
    const leavers = [1, 2, 3].map(() => new AbortController());
    for (const { signal } of leavers) void later(a.acquire({ signal }));
    await world.waiting(1);
    leavers[0]!.abort();
    leavers[1]!.abort();
    await world.elapse(50);
    expect((await world.snapshot()).waiting).toBe(1);
    leavers[2]!.abort();
    await world.waiting(0);
    await lease.release();
    await expectNothingLeft(world, a, z);
  },

  async 'behind a holder that stays a process has its entry, and others keep theirs'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    const lease = await a.acquire();
    const served: string[] = [];
    const mine = queueUp(a, served, [['a1'], ['a2']]);
    await world.waiting(1);
    const theirs = queueUp(b, served, [['b']]);
    await world.waiting(2);
    const last = queueUp(c, served, [['c']]);
    await world.waiting(3);
    await lease.release();
    await world.finish(Promise.all([...mine, ...theirs, ...last]));
    expect(served.filter((name) => name !== 'a2')).toEqual(['a1', 'b', 'c']);
    expect(served.indexOf('a2')).toBeGreaterThan(served.indexOf('a1'));
    await expectNothingLeft(world, a, b, c);
  },

  async 'behind a successor that stays a process has its entry again'(world) {
    const [z, a] = [await world.process(), await world.process()];
    const lease = await z.acquire();
    const [two, three] = [later(a.acquire()), later(a.acquire())];
    await world.waiting(1);
    await lease.release();
    const second = await world.finish(two);
    await world.waiting(1);
    await second.release();
    await (await world.finish(three)).release();
    await expectNothingLeft(world, a, z);
  },

  async 'who asks once is not kept waiting by the callers of its process'(world) {
    const a = await world.process();
    const lease = await a.acquire();
    await expect(a.acquire({ wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(lease.held).toBe(true);
    expect((await world.snapshot()).waiting).toBe(0);
    await lease.release();
  },

  async 'who came before the callers of the holder that stays is served before them'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire();
    const served: string[] = [];
    const theirs = queueUp(b, served, [['b']]);
    await world.waiting(1);
    const mine = queueUp(a, served, [['a']]);
    await world.waiting(2);
    await lease.release();
    await world.finish(Promise.all([...mine, ...theirs]));
    expect(served).toEqual(['b', 'a']);
  },

  async 'a process that crashes loses only its own waiters'(world) {
    const [a, b] = [await world.process({ ttl: TTL }), await world.process()];
    await a.acquire();
    const served: string[] = [];
    void queueUp(a, served, many(5, 'lost '));
    await world.waiting(1);
    const callers = many(5);
    const options = { wait: Infinity };
    const all = queueUp(b, served, many(5, '', options));
    await world.waiting(2);
    await a.crash();
    await world.pass(TTL);
    await world.finish(Promise.all(all));
    expect(served).toEqual(names(callers));
    expect((await world.snapshot()).type).toBe('none');
  },

  'a step that gives the turn away and is not sent loses no waiter and leaves no lease': (world) =>
    giveAwayInTrouble(world, { ran: false, outcome: 'unsent' }),

  'a step that gives the turn away and is lost loses no waiter and leaves no lease': (world) =>
    giveAwayInTrouble(world, { ran: false, outcome: 'unknown' }),

  'a step that gives the turn away and is not answered loses no waiter and leaves no lease': (
    world,
  ) => giveAwayInTrouble(world, { ran: true, outcome: 'unknown' }),

  'a step that gives the turn away and is refused loses no waiter and leaves no lease': (world) =>
    giveAwayInTrouble(world, { ran: false, outcome: 'refused' }),

  async 'who gives up while the turn is passed on leaves the lock free'(world) {
    const controller = new AbortController();
    const a = await world.process(
      {},
      yielding(async () => {
        controller.abort();
        return { kind: 'late' };
      }),
    );
    const lease = await a.acquire({ ttl: 30_000 });
    await world.elapse(BUDGET.ms + 5);
    void later(a.acquire({ signal: controller.signal }));
    void lease.release();
    await world.until('the wait is aborted', () => controller.signal.aborted);
    await expectNothingLeft(world, a);
  },

  async 'a process that gives its turn away finds room in a queue that is full'(world) {
    const limits = { waitersPerKey: 1 };
    const [a, b] = [await world.process({ limits }), await world.process({ limits })];
    const lease = await a.acquire();
    const served: string[] = [];
    const from = world.clock.monotonic();
    const theirs = queueUp(b, served, [['b']]);
    await world.waiting(1);
    await world.elapse(BUDGET.ms + 5);
    const mine = queueUp(a, served, [['a']]);
    void lease.release();
    await world.finish(Promise.all([...theirs, ...mine]));
    expect(served).toEqual(['b', 'a']);
    expect(world.clock.monotonic() - from).toBeLessThan(atMost(world, 500));
  },

  async 'a process that shuts down turns each of its waiters away, once, and leaves nothing'(
    world,
  ) {
    const a = await world.process();
    const lease = await a.acquire();
    const errors: unknown[] = [];
    const waits = Array.from({ length: 200 }, () =>
      a.acquire().catch((error: unknown) => void errors.push(error)),
    );
    a.locks.stopWaiting();
    await world.finish(Promise.all(waits));
    expect(errors).toHaveLength(200);
    for (const error of errors) expect(error).toBeInstanceOf(LockShutdownError);
    expect(a.locks.load).toMatchObject({ held: 1, waiting: 0 });
    expect(lease.held).toBe(true);
    await world.finish(a.locks.close());
    expect(lease.signal.reason).toMatchObject({ reason: 'shutdown' });
    await expectNothingLeft(world, a);
  },

  async 'fenced and unfenced callers of a process exclude each other and both have turns'(world) {
    const a = await world.process();
    const fenced = [1, 2, 3].map((): [LockingProcess] => [a]);
    const unfenced = [1, 2, 3].map((): [LockingProcess, AcquireOptions] => [a, { fencing: false }]);
    const turns = await contend(world, [...unfenced, ...fenced], { sections: 150, ms: 1 });
    const lengths = stretches(turns.map(({ caller }) => caller < 3));
    expect(Math.max(...lengths)).toBeLessThanOrEqual(12);
    expectGrowing(turns.flatMap(({ token }) => token ?? []));
  },

  async 'each of 5,000 waiters in two processes is served'(world) {
    const [z, a, b] = [await world.process(), await world.process(), await world.process()];
    const lease: Lease = await z.acquire();
    const served: string[] = [];
    const wait = many(2_500, 'a');
    const all = [...queueUp(a, served, wait), ...queueUp(b, served, many(2_500, 'b'))];
    await world.waiting(2);
    await lease.release();
    await world.finish(Promise.all(all));
    expect(served.filter((name) => name.startsWith('a'))).toEqual(names(wait));
    expect(new Set(served).size).toBe(5_000);
    await expectNothingLeft(world, a, b, z);
  },
};

type Named = readonly [name: string, options?: AcquireOptions];

/** Callers that come in this order; each is noted when it has the lock, and gives it back at once. */
function queueUp(process: LockingProcess, served: string[], callers: readonly Named[]) {
  const call = async ([name, options]: Named): Promise<void> => {
    const lease = await process.acquire(options);
    served.push(name);
    await lease.release();
  };
  return callers.map((caller) => later(call(caller)));
}

function many(count: number, name = '', options: AcquireOptions = {}): Named[] {
  return Array.from({ length: count }, (_, at) => [`${name}${at}`, options] as const);
}

function names(callers: readonly Named[]): string[] {
  return callers.map(([name]) => name);
}

/** What becomes of the step in which a process gives a lease back and queues again. */
function yielding(fate: (ask: LockRequest, send: () => Promise<Answer>) => Promise<Answer>): Wrap {
  return (store) =>
    withSteps(store, {
      acquire: (ask) => {
        const send = (): Promise<Answer> => store.acquire(ask);
        return ask.former ? fate(ask, send) : send();
      },
    });
}

/** Callers that want the lock again and again, until so many sections of `ms` have run in all. */
async function contend(
  world: World,
  callers: readonly [LockingProcess, AcquireOptions?][],
  { sections, ms }: { sections: number; ms: number },
): Promise<{ caller: number; token: number | undefined }[]> {
  const turns: { caller: number; token: number | undefined }[] = [];
  let inside = 0;
  const loop = async (
    caller: number,
    process: LockingProcess,
    options: AcquireOptions = {},
  ): Promise<void> => {
    while (turns.length < sections) {
      const lease = await process.acquire(options);
      inside += 1;
      expect(inside).toBe(1);
      turns.push({ caller, token: options.fencing === false ? undefined : lease.fencingToken });
      if (ms > 0) await new Promise<void>((resolve) => world.clock.after(ms, resolve));
      inside -= 1;
      await lease.release();
    }
  };
  await world.finish(Promise.all(callers.map(([process, call], at) => loop(at, process, call))));
  return turns;
}

/** How long each stretch was in which the same one had the lock. */
function stretches(turns: readonly unknown[]): number[] {
  const lengths: number[] = [];
  for (const [at, turn] of turns.entries()) {
    if (at > 0 && turn === turns[at - 1]) lengths[lengths.length - 1]! += 1;
    else lengths.push(1);
  }
  return lengths;
}

/** A process with more callers than a turn serves whose sections take no time, and another with one caller. */
async function hurry(world: World, options: AcquireOptions): Promise<void> {
  const [z, a, c] = [await world.process(), await world.process(), await world.process()];
  const lease = await z.acquire();
  const served: string[] = [];
  const hot = queueUp(a, served, many(TURN + 50, '', options));
  await world.waiting(1);
  const other = queueUp(c, served, [['other']]);
  await world.waiting(2);
  await lease.release();
  await world.finish(Promise.all([...hot, ...other]));
  expect(served.indexOf('other')).toBeLessThanOrEqual(TURN);
  expect(served.filter((name) => name !== 'other')).toEqual(names(many(TURN + 50)));
}

/** Twice a process cannot be sure that its turn was given away, as in a short outage. */
async function giveAwayInTrouble(
  world: World,
  { ran, outcome }: { ran: boolean; outcome: CommandOutcome },
): Promise<void> {
  let troubles = 0;
  const troubled = yielding(async (_ask, send) => {
    troubles += 1;
    if (troubles > 2) return send();
    if (ran) await send();
    throw new LockStoreError('Trouble.', { outcome });
  });
  const [z, a, b] = [
    await world.process(),
    await world.process({ commandTimeout: 400 }, troubled),
    await world.process(),
  ];
  const lease = await z.acquire();
  const served: string[] = [];
  const callers = many(3 * TURN + 50);
  const hot = queueUp(a, served, callers);
  await world.waiting(1);
  const other = queueUp(b, served, [['other']]);
  await world.waiting(2);
  await world.pass(500); // longer than a command may take: they have been waiting, and go on
  await lease.release();
  await world.finish(Promise.all([...hot, ...other]));
  expect(troubles).toBeGreaterThan(2);
  expect(served.filter((name) => name !== 'other')).toEqual(names(callers));
  expect(served.indexOf('other')).toBeLessThanOrEqual(TURN);
  await expectNothingLeft(world, a, b, z);
}
