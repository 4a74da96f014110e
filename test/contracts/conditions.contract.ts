import { expect } from '@jest/globals';
import {
  LeaseLostError,
  LockLimitError,
  LockOptionsError,
  LockStoreError,
} from '../../lib/engine/errors/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { COMMAND, DEAD, POLL, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { Gate } from '../support/gate.js';
import { later } from '../support/later.js';
import { losingPushes } from '../support/losing-pushes.js';
import { random } from '../support/random.js';
import { type LockingProcess, type World, type Wrap, withSteps } from '../support/world.js';
import { LateGrant } from './late-grant.js';

/** How long one awaits whose time is to be over, in ms: others are served meanwhile, on a busy machine too. */
const SHORT = 2_000;

/** Of one who awaits a condition, or awaited it until its time was over. */
const ofCondition = ({ condition }: LockRequest): boolean => condition !== undefined;
/** Of one whose time to await is over. */
const afterTime = ({ condition }: LockRequest): boolean => condition?.over === true;

export const conditions: Contract = {
  async 'who awaits gives the lock back, and wakes as the holder with a new token'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const { lease, woken } = await awaiting(world, a);
    const { signal: lost } = lease;
    expect([lease.held, (await world.snapshot()).type]).toEqual([false, 'none']);
    const other = await b.acquire();
    const before = other.fencingToken;
    expect(await condition(b, other).signal()).toBe(true);
    expect(() => lease.assertHeld()).toThrow('await a condition');
    await other.release();
    expect(await world.finish(woken)).toBe(true);
    expect([lease.held, lost.aborted]).toEqual([true, false]);
    expect(lease.fencingToken).toBeGreaterThan(before);
    expect(lease.signal).toBe(lost);
    await lease.extend('20s');
    expect(await lease.release()).toBe(true);
    await nothingLeft(world, a, b);
  },

  async 'who awaited begins its longest hold anew'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire({ ttl: TTL, maxHold: 2 * TTL });
    await world.renewed(a, TTL, 3);
    const woken = later(condition(a, lease).await());
    await world.until('it awaits', async () => (await world.snapshot()).awaiting === 1);
    expect(await signal(world, b)).toBe(true);
    expect(await world.finish(woken)).toBe(true);
    const from = a.clock.monotonic();
    await world.until('the lease is over', async () => {
      await world.pass(1_000);
      return !lease.held;
    });
    expect(a.clock.monotonic() - from).toBeGreaterThan(1.9 * TTL);
    expect(await lease.release()).toBe(false);
    await nothingLeft(world, a, b);
  },

  async 'who awaits leaves nothing without an end, however late its process showed itself'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const first = await a.acquire();
    const queued = b.acquire();
    await world.until('one waits', async () => (await world.snapshot()).waiting === 1);
    await first.release();
    const lease = await world.finish(queued); // the queue is empty, and b was seen just now
    const woken = condition(b, lease).await();
    await world.until('it awaits', async () => (await world.snapshot()).awaiting === 1);
    expect((await world.keys()).filter(({ ttl }) => ttl < 0)).toEqual([]);
    expect(await signal(world, a)).toBe(true);
    await world.finish(woken);
    await lease.release();
    await nothingLeft(world, a, b);
  },

  async 'who awaits sends nothing to wake but its polls'(world) {
    const asks: string[] = [];
    const counting: Wrap = (store) =>
      withSteps(store, {
        acquire: (ask) => {
          asks.push(ask.former ? 'await' : 'ask');
          return store.acquire(ask);
        },
      });
    const [a, b] = [await world.process({}, counting), await world.process()];
    const { lease, woken } = await awaiting(world, a);
    expect(await signal(world, b)).toBe(true);
    await world.finish(woken);
    expect(asks).toEqual(['ask', 'await']);
    await lease.release();
  },

  async 'waiters wake in the order in which they began, one signal each'(world) {
    const processes = [await world.process(), await world.process(), await world.process()];
    const order: number[] = [];
    const all: Promise<void>[] = [];
    for (const [at, process] of [...processes, ...processes].entries()) {
      const { lease, woken } = await awaiting(world, process);
      all.push(
        woken.then(async () => {
          order.push(at);
          await lease.release();
        }),
      );
    }
    for (let at = 0; at < 2; at += 1) await signal(world, processes[1]!);
    await world.until('two woke', () => order.length === 2);
    const lease = await world.finish(processes[0]!.acquire());
    expect(await condition(processes[0]!, lease).signalAll()).toBe(4);
    expect(await condition(processes[0]!, lease).signal()).toBe(false);
    await lease.release();
    await world.finish(Promise.all(all));
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    await nothingLeft(world, ...processes);
  },

  async 'a condition is told apart from another of the same lock, whatever its name'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const first = await awaiting(world, a, { name: 'not full' });
    const second = await awaiting(world, a, { name: 'not/full: {x} %' });
    expect(await signal(world, b, 'not empty')).toBe(false);
    expect(await signal(world, b, 'not/full: {x} %')).toBe(true);
    expect(await world.finish(second.woken)).toBe(true);
    expect((await world.snapshot()).awaiting).toBe(1);
    await second.lease.release();
    expect(await signal(world, b, 'not full')).toBe(true);
    expect(await world.finish(first.woken)).toBe(true);
    await first.lease.release();
    await nothingLeft(world, a, b);
  },

  async 'who awaits one of two conditions wakes, though its push is lost'(world) {
    const [a, b] = [await world.process({}, losingPushes), await world.process()];
    await wakesEach(world, a, (name) => signal(world, b, name));
    await nothingLeft(world, a, b);
  },

  async 'who awaits one of two conditions wakes, though the server took it for dead'(world) {
    const [a, b] = [await world.process(), await world.process()];
    await wakesEach(world, a, async (name) => {
      await world.silence(DEAD + 100);
      return signal(world, b, name);
    });
    await nothingLeft(world, a, b);
  },

  async 'whose time is over wakes behind another, though the ask for that fails'(world) {
    let troubles = 0;
    const troubled: Wrap = (store) =>
      withSteps(store, {
        async acquire(ask) {
          if (!ask.condition?.over || (troubles += 1) > 1) return store.acquire(ask);
          throw new LockStoreError('Trouble.', { outcome: 'unsent' });
        },
      });
    const [a, b] = [await world.process({}, troubled), await world.process()];
    const first = await awaiting(world, a);
    const { lease, woken } = await awaiting(world, a, { wait: SHORT });
    await world.pass(SHORT + 100);
    expect(await world.finish(woken)).toBe(false);
    expect(troubles).toBeGreaterThan(1);
    await lease.release();
    await signal(world, b);
    await world.finish(first.woken);
    await first.lease.release();
    await nothingLeft(world, a, b);
  },

  async 'as many await as may, and as many wait for the lock beside them'(world) {
    const limits = { waitersPerKey: 2 };
    const a = await world.client({ limits });
    const name = { name: 'changed', over: false };
    const awaits = [a.request(), a.request(), a.request()].map((request) => ({
      ...request,
      condition: name,
    }));
    for (const request of awaits.slice(0, 2)) {
      const { request: former } = await a.hold();
      expect((await a.ask(request, { former })).kind).toBe('queued');
    }
    const { request: teller } = await a.hold();
    expect((await a.ask(awaits[2]!, { former: teller })).kind).toBe('full');
    expect((await world.snapshot()).holder).toBe(teller.holder);
    expect((await a.ask(awaits[0]!)).kind).toBe('queued');
    const waits = [await a.queue(), await a.queue()];
    expect((await a.ask(a.request())).kind).toBe('full');
    expect(await a.lock.signal(teller, 'changed', 1)).toEqual({ woken: 1 });
    expect((await a.ask({ ...awaits[1]!, condition: { ...name, over: true } })).kind).toBe(
      'queued',
    );
    expect(await world.snapshot()).toMatchObject({ waiting: 4, awaiting: 0 });
    const order = [...waits.map(({ request }) => request), ...awaits.slice(0, 2)];
    let holder = teller;
    for (const { condition: _, ...next } of order) {
      await a.lock.release(holder, 0);
      await world.until('the next is told', () => a.granted(next) !== undefined);
      holder = next;
    }
    await a.lock.release(holder, 0);
  },

  async 'who is one too many to await is told so, and keeps the lock'(world) {
    const a = await world.process({ limits: { waitersPerKey: 1 }, fairness: 'strict' });
    const { lease, woken } = await awaiting(world, a);
    const other = await world.finish(a.acquire());
    const refused = later(condition(a, other).await());
    await expect(world.finish(refused)).rejects.toThrow(LockLimitError);
    await expect(refused).rejects.toThrow('of 1 is reached by callers that await a condition');
    expect(other.held).toBe(true);
    const next = later(a.acquire());
    await world.until('one waits', async () => (await world.snapshot()).waiting === 1);
    expect(await condition(a, other).signal()).toBe(true);
    await other.release();
    await (await world.finish(next)).release();
    expect(await world.finish(woken)).toBe(true);
    await lease.release();
    await nothingLeft(world, a);
  },

  async 'who gives up before it hears that it is one too many to await holds nothing'(world) {
    const answers = new Gate();
    const late: Wrap = (store) =>
      withSteps(store, {
        acquire: (ask) => (ask.former ? answers.after(store.acquire(ask)) : store.acquire(ask)),
      });
    const limits = { waitersPerKey: 1 };
    const [a, b] = [
      await world.process({ limits }),
      await world.process({ limits, ttl: 60_000 }, late),
    ];
    const { lease, woken } = await awaiting(world, a);
    const other = await world.finish(b.acquire());
    const controller = new AbortController();
    const gone = later(condition(b, other).await({ signal: controller.signal }));
    controller.abort(new RangeError('enough'));
    await expect(gone).rejects.toThrow('enough');
    answers.open();
    await world.until('the lock is free', async () => (await world.snapshot()).type === 'none');
    expect(await signal(world, a)).toBe(true);
    expect(await world.finish(woken)).toBe(true);
    await lease.release();
    await nothingLeft(world, a, b);
  },

  async 'whose lease is given back while it awaits leaves the queue, and the next has the signal'(
    world,
  ) {
    for (const told of [false, true]) {
      const [a, b] = [await world.process(), await world.process()];
      const first = await awaiting(world, a);
      const second = await awaiting(world, b);
      const teller = await b.acquire();
      if (told) expect(await condition(b, teller).signal()).toBe(true);
      expect(await first.lease.release()).toBe(false);
      const over: unknown = expect.objectContaining({ code: 'LEASE_LOST', reason: 'awaiting' });
      await expect(world.finish(first.woken)).rejects.toEqual(over);
      const left = told ? 0 : 1;
      await world.until('it left', async () => (await world.snapshot()).awaiting === left);
      if (!told) expect(await condition(b, teller).signal()).toBe(true);
      await teller.release();
      expect(await world.finish(second.woken)).toBe(true);
      await second.lease.release();
      await nothingLeft(world, a, b);
    }
  },

  async 'others lock as ever while somebody awaits'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.client()];
    const { lease, woken } = await awaiting(world, a);
    expect((await c.try(c.request())).kind).toBe('held');
    await world.flush();
    await world.elapse(1);
    const held = await awaiting(world, b, { name: 'other' });
    const { request } = await c.hold();
    const { request: next } = await c.queue();
    await c.lock.release(request, 0);
    await world.until('the next is told', () => c.granted(next) !== undefined);
    await c.lock.release(next, 0);
    for (const [name, each] of [
      ['changed', { lease, woken }],
      ['other', held],
    ] as const) {
      const teller = await world.finish(b.acquire());
      await condition(b, teller, name).signalAll();
      await teller.release();
      await world.finish(each.woken); // the flushed one wakes for nothing, at the latest by its poll
      await each.lease.release();
    }
    await nothingLeft(world, a, b);
  },

  async 'whose time is over wakes as the holder too, without a signal'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const { lease, woken } = await awaiting(world, a, { wait: SHORT });
    const other = await world.finish(b.acquire());
    await world.pass(SHORT + 100);
    await world.waiting(1);
    expect((await world.snapshot()).awaiting).toBe(0);
    expect(await condition(b, other).signal()).toBe(false);
    await other.release();
    expect(await world.finish(woken)).toBe(false);
    expect(lease.held).toBe(true);
    await lease.release();
    await nothingLeft(world, a, b);
  },

  async 'who gives up holds nothing, and what it was signalled goes on to the next'(world) {
    const [a, b, c] = [await world.process(), await world.process(), await world.process()];
    const controller = new AbortController();
    const first = await awaiting(world, a, { signal: controller.signal });
    const second = await awaiting(world, b);
    const teller = await c.acquire();
    expect(await condition(c, teller).signal()).toBe(true);
    controller.abort(new RangeError('enough'));
    await expect(world.finish(first.woken)).rejects.toThrow('enough');
    expect([first.lease.held, await first.lease.release()]).toEqual([false, false]);
    await world.until('it was passed on', async () => (await world.snapshot()).awaiting === 0);
    await teller.release();
    expect(await world.finish(second.woken)).toBe(true);
    await second.lease.release();
    await nothingLeft(world, a, b, c);
  },

  async 'who gives up before a signal takes none with it'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const controller = new AbortController();
    const first = await awaiting(world, a, { signal: controller.signal });
    const second = await awaiting(world, b);
    controller.abort(new RangeError('enough'));
    await expect(world.finish(first.woken)).rejects.toThrow('enough');
    const lost: unknown = expect.objectContaining({ code: 'LEASE_LOST', reason: 'awaiting' });
    expect(() => first.lease.assertHeld()).toThrow(lost);
    await world.until('it is gone', async () => (await world.snapshot()).awaiting === 1);
    expect(await signal(world, b)).toBe(true);
    expect(await world.finish(second.woken)).toBe(true);
    await second.lease.release();
    await nothingLeft(world, a, b);
  },

  async 'a waiter that died is passed over'(world) {
    const [dead, b] = [await world.process(), await world.process()];
    await awaiting(world, dead);
    const { lease, woken } = await awaiting(world, b);
    await dead.crash();
    const teller = await b.acquire();
    await onlyThisLives(world, b);
    expect(await condition(b, teller).signal()).toBe(true);
    await teller.release();
    expect(await world.finish(woken)).toBe(true);
    await lease.release();
    await nothingLeft(world, b);
  },

  async 'a waiter that dies when it was signalled passes the signal on'(world) {
    const [dead, b] = [await world.process(), await world.process()];
    await awaiting(world, dead);
    const { lease, woken } = await awaiting(world, b);
    const teller = await b.acquire();
    expect(await condition(b, teller).signal()).toBe(true);
    await dead.crash();
    await onlyThisLives(world, b);
    await teller.release();
    expect(await world.finish(woken)).toBe(true);
    await lease.release();
    await nothingLeft(world, b);
  },

  async 'whose time is over is told that nobody signalled, though an ask finds its grant and no push does'(
    world,
  ) {
    const [a, b] = [await world.process({}, losingPushes), await world.process()];
    const { lease, woken } = await awaiting(world, a, { wait: SHORT });
    const other = await b.acquire();
    await world.pass(SHORT + 100);
    await world.waiting(1); // its time is over, and it queues for the lock
    await other.release();
    expect(await world.finish(woken)).toBe(false);
    await lease.release();
    await nothingLeft(world, a, b);
  },

  async 'who was signalled is told so, though its time is over before an ask finds its grant'(
    world,
  ) {
    const [a, b] = [await world.process({}, losingPushes), await world.process()];
    const { lease, woken } = await awaiting(world, a, { wait: SHORT });
    const other = await b.acquire();
    expect(await condition(b, other).signal()).toBe(true);
    await world.pass(SHORT + 100);
    await other.release();
    expect(await world.finish(woken)).toBe(true);
    await lease.release();
    await nothingLeft(world, a, b);
  },

  async 'whose grant comes too late is told what is known of the signal'(world) {
    for (const signalled of [true, false]) {
      const late = new LateGrant(afterTime);
      const [a, b] = [await world.process({}, late.wrap), await world.process()];
      const { lease, woken } = await awaiting(world, a, { wait: SHORT });
      const other = await b.acquire();
      if (signalled) expect(await condition(b, other).signal()).toBe(true);
      await world.pass(SHORT + 100);
      await world.waiting(1);
      await other.release();
      expect(await world.finish(woken)).toBe(signalled);
      expect(late.came).toBe(true);
      await lease.release();
      await nothingLeft(world, a, b);
    }
  },

  async 'whose grant comes too late wakes by its signal, and nobody else does'(world) {
    const late = new LateGrant(ofCondition);
    const [a, b] = [await world.process({}, late.wrap), await world.process()];
    const first = await awaiting(world, a);
    const second = await awaiting(world, b);
    expect(await signal(world, b)).toBe(true);
    expect(await world.finish(first.woken)).toBe(true);
    expect(late.came).toBe(true);
    await first.lease.release();
    expect(await world.snapshot()).toMatchObject({ waiting: 0, awaiting: 1 });
    expect(await signal(world, a)).toBe(true);
    expect(await world.finish(second.woken)).toBe(true);
    await second.lease.release();
    await nothingLeft(world, a, b);
  },

  async 'whose grant comes too late, and who then gives up, passes its signal on'(world) {
    const [asked, answers] = [new Gate(), new Gate()];
    const late = new LateGrant(ofCondition);
    const held: Wrap = (store) =>
      withSteps(store, {
        acquire: async (ask) => {
          const again = late.came;
          const answer = await store.acquire(ask);
          if (!again || !ask.condition || answer.kind !== 'held') return answer;
          asked.open();
          await answers.opened;
          return answer;
        },
      });
    const [a, b] = [
      await world.process({}, (store, clock) => held(late.wrap(store, clock), clock)),
      await world.process(),
    ];
    const controller = new AbortController();
    const first = await awaiting(world, a, { signal: controller.signal });
    const second = await awaiting(world, b);
    expect(await signal(world, b)).toBe(true);
    await world.finish(asked.opened);
    controller.abort(new RangeError('enough'));
    answers.open();
    await expect(world.finish(first.woken)).rejects.toThrow('enough');
    expect(await world.finish(second.woken)).toBe(true);
    await second.lease.release();
    await nothingLeft(world, a, b);
  },

  async 'whose late grant finds the queue full holds nothing more'(world) {
    const late = new LateGrant(afterTime);
    const full: Wrap = (store) =>
      withSteps(store, {
        acquire: async (ask) =>
          late.came && !ask.condition && ask.queue
            ? { kind: 'full', gaveBack: false }
            : store.acquire(ask),
      });
    const a = await world.process({}, (store, clock) => full(late.wrap(store, clock), clock));
    const b = await world.process();
    const lease = await a.acquire({ renew: false });
    await lease.extend('1h');
    const woken = later(condition(a, lease).await({ wait: SHORT }));
    const other = await world.finish(b.acquire());
    await world.pass(SHORT + 100);
    await world.waiting(1);
    await other.release();
    await expect(world.finish(woken)).rejects.toThrow(LockLimitError);
    expect(late.came).toBe(true);
    const next = await world.finish(b.acquire());
    expect([next.held, lease.held]).toEqual([true, false]);
    await next.release();
    await nothingLeft(world, a, b);
  },

  async 'the dead who await are forgotten when another begins to'(world) {
    const [dead, b] = [await world.process(), await world.process()];
    for (let at = 0; at < 3; at += 1) await awaiting(world, dead, { name: 'never signalled' });
    await dead.crash();
    await world.silence(DEAD + 100);
    const lease = await b.acquire();
    const woken = later(condition(b, lease).await({ wait: 60_000 }));
    await world.until('only one awaits', async () => (await world.snapshot()).awaiting === 1);
    expect(await signal(world, b)).toBe(true);
    expect(await world.finish(woken)).toBe(true);
    await lease.release();
  },

  async 'a dead one who was signalled makes room in a full queue, and its signal goes on'(world) {
    const limits = { waitersPerKey: 2 };
    const [dead, a, teller] = [
      await world.client({ limits }),
      await world.client({ limits }),
      await world.client({ limits }),
    ];
    const awaits = [dead, a].map((client) => ({
      ...client.request({ ttl: 60_000 }),
      condition: { name: 'changed', over: false },
    }));
    await dead.ask(awaits[0]!, { former: (await dead.hold()).request });
    await a.ask(awaits[1]!, { former: (await a.hold()).request });
    const { request } = await teller.hold({ ttl: 60_000 });
    expect(await teller.lock.signal(request, 'changed', 1)).toEqual({ woken: 1 });
    await dead.queue();
    await world.silence(DEAD + 100);
    await a.ask(awaits[1]!); // it lives
    const { request: newcomer } = await teller.queue();
    expect(await world.snapshot()).toMatchObject({ waiting: 2, awaiting: 0 });
    await teller.lock.leave(newcomer);
    await teller.lock.release(request, 0);
    await world.until('who lives is woken', () => a.granted(awaits[1]!) !== undefined);
  },

  async 'nobody awaits or signals without the lock'(world) {
    const [a, b] = [await world.process(), await world.client()];
    const lease = await a.acquire();
    const changed = condition(a, lease);
    await b.lock.force('k');
    await b.hold();
    await expect(world.finish(changed.signal())).rejects.toThrow(LeaseLostError);
    await expect(world.finish(changed.await())).rejects.toThrow(LeaseLostError);
    const reader = await a.acquire({ key: 'r', mode: 'shared' });
    await expect(condition(a, reader).await()).rejects.toThrow(LockOptionsError);
    await reader.release();
  },

  async 'whose time was over, and who leaves when it is granted the lock, wakes nobody'(world) {
    const controller = new AbortController();
    // It leaves before it hears of its grant.
    const [a, b, c] = [
      await world.process({}, losingPushes),
      await world.process(),
      await world.process(),
    ];
    const { signal: enough } = controller;
    const first = await awaiting(world, a, { wait: SHORT, signal: enough });
    const second = await awaiting(world, b);
    const other = await c.acquire();
    await world.pass(SHORT + 100);
    await world.waiting(1); // its time is over, and it queues for the lock
    await world.until('it knows', () => a.answered.asks >= 3);
    await other.release();
    controller.abort(new RangeError('enough'));
    await expect(world.finish(first.woken)).rejects.toThrow('enough');
    await world.until('it has left', async () => (await world.snapshot()).type === 'none');
    expect(await world.snapshot()).toMatchObject({ waiting: 0, awaiting: 1 });
    expect(await signal(world, c)).toBe(true);
    expect(await world.finish(second.woken)).toBe(true);
    await second.lease.release();
    await nothingLeft(world, a, b, c);
  },

  async 'whose time is over, and who leaves before it hears that it has the lock, wakes nobody'(
    world,
  ) {
    const [asked, answers] = [new Gate(), new Gate()];
    const late: Wrap = (store) =>
      withSteps(store, {
        acquire: async (ask) => {
          const answer = await store.acquire(ask);
          if (ask.condition?.over) {
            asked.open();
            await answers.opened;
          }
          return answer;
        },
      });
    const controller = new AbortController();
    const [a, b] = [await world.process({}, late), await world.process()];
    const { signal: enough } = controller;
    const first = await awaiting(world, a, { wait: SHORT, signal: enough });
    const second = await awaiting(world, b);
    await world.pass(SHORT + 100);
    await asked.opened; // its time is over, and it has the lock
    controller.abort(new RangeError('enough'));
    await expect(world.finish(first.woken)).rejects.toThrow('enough');
    answers.open();
    await world.until('it has left', async () => (await world.snapshot()).type === 'none');
    expect(await world.snapshot()).toMatchObject({ waiting: 0, awaiting: 1 });
    expect(await signal(world, b)).toBe(true);
    expect(await world.finish(second.woken)).toBe(true);
    await second.lease.release();
    await nothingLeft(world, a, b);
  },

  async 'who does not hold the lock cannot signal, nor give it back to await'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request: holder } = await b.hold();
    expect(await a.lock.signal(a.request(), 'changed', 1)).toBe('taken');
    const waiting = { ...a.request(), condition: { name: 'changed', over: false } };
    const answer = await a.ask(waiting, { former: a.request() });
    expect(answer).toMatchObject({ kind: 'taken', gaveBack: false });
    expect(await world.snapshot()).toMatchObject({ holder: holder.holder, awaiting: 0 });
    await a.lock.force('k');
    expect(await a.lock.signal(a.request(), 'changed', 1)).toBe('free');
    expect(await a.ask(waiting, { former: a.request() })).toMatchObject({ kind: 'free' });
  },

  async 'a lock that is lost on the way into the wait is told, and how'(world) {
    const a = await world.process({ ttl: 5_000 });
    const b = await world.client();
    for (const how of ['forced', 'taken', 'free'] as const) {
      const key = how;
      const lease = await a.acquire({ key });
      const { signal: lost } = lease;
      if (how === 'forced') await b.lock.force(key);
      else await world.flush();
      const other = how === 'free' ? undefined : await b.hold({ key });
      const woken = condition(a, lease).await(); // nobody has told a yet, or just now
      await expect(world.finish(woken)).rejects.toThrow(LeaseLostError);
      const { reason } = lost.reason as LeaseLostError;
      await expect(woken).rejects.toMatchObject({ reason });
      if (how === 'taken') expect(reason).toBe('taken');
      expect(reason).not.toBe('awaiting');
      expect(await world.holder(key)).toBe(other?.request.holder ?? '');
      expect(await lease.release()).toBe(false);
    }
    await world.until('all departures are over', () => a.locks.load.leaving === 0);
  },

  async 'who signals with a lock that is lost is told at once, and how'(world) {
    const [a, b] = [await world.process({ ttl: 5_000 }), await world.client()];
    const lease = await a.acquire();
    const { signal: lost } = lease;
    await world.flush();
    await b.hold();
    const told = later(condition(a, lease).signalAll());
    await expect(world.finish(told)).rejects.toThrow(LeaseLostError);
    expect([lease.held, lost.aborted]).toEqual([false, true]);
    await expect(told).rejects.toMatchObject({ reason: 'taken' });
  },

  async 'who awaits while the store is away longer than allowed has lost the lease'(world) {
    const a = await world.process({ ttl: TTL, outageWait: 100 });
    const { lease, woken } = await awaiting(world, a);
    const { signal: lost } = lease;
    await a.store.close();
    await expect(world.finish(woken)).rejects.toThrow(LockStoreError);
    expect([lease.held, lost.aborted]).toEqual([false, true]);
  },

  async 'a step that was not sent leaves the lock held; one that was not answered wakes at last'(
    world,
  ) {
    for (const outcome of ['unsent', 'refused', 'unknown'] as const) {
      for (const ran of outcome === 'unknown' ? [true, false] : [false]) {
        let troubles = 0;
        const troubled: Wrap = (store) =>
          withSteps(store, {
            async acquire(ask) {
              if (!ask.former || (troubles += 1) > 1) return store.acquire(ask);
              if (ran) await store.acquire(ask);
              throw new LockStoreError('Trouble.', { outcome });
            },
          });
        const [a, b] = [await world.process({ ttl: TTL }, troubled), await world.process()];
        const lease = await world.finish(a.acquire());
        const woken = later(condition(a, lease).await());
        if (outcome === 'unknown') {
          await world.elapse(200);
          if (ran) await signal(world, b); // else it woke by itself: it may have missed one
          expect(await world.finish(woken)).toBe(true);
        } else {
          await expect(world.finish(woken)).rejects.toThrow('Trouble');
        }
        expect(lease.held).toBe(true);
        expect(await lease.release()).toBe(true);
        await nothingLeft(world, a, b);
      }
    }
  },

  async 'an ask that was not answered, and runs when the lock was given back, leaves nothing'(
    world,
  ) {
    const late: (() => Promise<unknown>)[] = [];
    const b = await world.process();
    const a = await world.process({ commandTimeout: COMMAND }, (store) =>
      withSteps(store, {
        acquire: (ask) => {
          if (!ask.condition || ask.former || late.length > 0) return store.acquire(ask);
          late.push(() => store.acquire({ ...ask, wanted: () => true }));
          const unknown = { key: 'k', outcome: 'unknown' } as const;
          return Promise.reject(new LockStoreError('It did not answer.', unknown));
        },
      }),
    );
    const { lease, woken } = await awaiting(world, a);
    await world.pass(POLL);
    await world.until('it asked', () => late.length > 0);
    expect(await signal(world, b)).toBe(true);
    expect(await world.finish(woken)).toBe(true);
    expect(await lease.release()).toBe(true);
    const other = await world.finish(b.acquire());
    await late[0]!();
    await world.waiting(1);
    await world.pass(COMMAND);
    await world.waiting(0);
    await other.release();
    await nothingLeft(world, a, b);
  },

  async 'a lease that was given back meanwhile is held by nobody when its step was not sent'(
    world,
  ) {
    for (const outcome of ['unsent', 'refused'] as const) {
      const troubled: Wrap = (store) =>
        withSteps(store, {
          acquire: (ask) =>
            ask.former
              ? Promise.reject(new LockStoreError('Trouble.', { outcome }))
              : store.acquire(ask),
        });
      const a = await world.process({ ttl: 60_000 }, troubled);
      const lease = await world.finish(a.acquire());
      const woken = later(condition(a, lease).await());
      void lease.release();
      await expect(world.finish(woken)).rejects.toThrow(LeaseLostError);
      await nothingLeft(world, a);
    }
  },

  async 'who waits behind the lock of its own process comes when its holder awaits'(world) {
    const a = await world.process();
    const lease = await a.acquire();
    const next = a.acquire();
    await world.elapse(1);
    const woken = condition(a, lease).await();
    const other = await world.finish(next);
    expect(await condition(a, other).signal()).toBe(true);
    await other.release();
    expect(await world.finish(woken)).toBe(true);
    await lease.release();
    await nothingLeft(world, a);
  },

  async 'a re-entered lock is given back whole, and held again whole'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const outer = await a.acquire();
    await outer.run(async () => {
      const inner = await a.acquire();
      const woken = condition(a, inner).await();
      await world.until('it awaits', async () => (await world.snapshot()).awaiting === 1);
      expect([outer.held, inner.held]).toEqual([false, false]);
      expect(await signal(world, b)).toBe(true);
      await world.finish(woken);
      expect([outer.held, inner.held]).toEqual([true, true]);
      expect(outer.fencingToken).toBe(inner.fencingToken);
      await inner.release();
      expect(outer.held).toBe(true);
    });
    expect(await outer.release()).toBe(true);
    await nothingLeft(world, a, b);
  },

  async 'while one inside a section awaits, another inside it takes the lock and signals'(world) {
    for (const early of [false, true]) {
      const a = await world.process();
      const outer = await a.acquire();
      await outer.run(async () => {
        const inner = await a.acquire();
        const queued = early ? later(a.acquire({ wait: Infinity })) : undefined; // its turn has not come
        const woken = later(condition(a, inner).await());
        await world.until('it awaits', async () => (await world.snapshot()).awaiting === 1);
        const sibling = await world.finish(queued ?? a.acquire({ wait: Infinity }));
        expect([sibling.held, inner.held, outer.held]).toEqual([true, false, false]);
        expect(await condition(a, sibling).signal()).toBe(true);
        await sibling.release();
        expect(await world.finish(woken)).toBe(true);
        expect([inner.held, outer.held]).toEqual([true, true]);
        await inner.release();
      });
      expect(await outer.release()).toBe(true);
      await nothingLeft(world, a);
    }
  },

  async 'who enters a section as its holder begins to await takes the lock, and signals'(world) {
    const a = await world.process();
    const outer = await a.acquire();
    await outer.run(async () => {
      const entering = later(a.acquire({ wait: Infinity }));
      const woken = later(condition(a, outer).await());
      const other = await world.finish(entering);
      expect([other.held, outer.held]).toEqual([true, false]);
      expect(await condition(a, other).signal()).toBe(true);
      await other.release();
      expect(await world.finish(woken)).toBe(true);
    });
    expect(await outer.release()).toBe(true);
    await nothingLeft(world, a);
  },

  async 'who gives up awaiting inside a section, or gives back early, leaves the lock to those inside'(
    world,
  ) {
    for (const abort of [true, false]) {
      const a = await world.process();
      const controller = new AbortController();
      const outer = await a.acquire();
      await outer.run(async () => {
        const inner = await a.acquire();
        const { signal: enough } = controller;
        const woken = later(condition(a, inner).await({ signal: enough }));
        await world.until('it awaits', async () => (await world.snapshot()).awaiting === 1);
        const sibling = await world.finish(a.acquire({ wait: Infinity }));
        if (abort) controller.abort(new RangeError('enough'));
        else await inner.release();
        if (abort) await expect(world.finish(woken)).rejects.toThrow('enough');
        else expect(await condition(a, sibling).signal()).toBe(true);
        expect(sibling.held).toBe(true);
        await sibling.release();
        if (abort) {
          const next = await world.finish(a.acquire({ wait: Infinity }));
          expect([next.held, outer.held]).toEqual([true, false]);
          await next.release();
        } else {
          expect(await world.finish(woken)).toBe(true);
          expect([inner.held, outer.held]).toEqual([false, true]);
        }
      });
      expect(await outer.release()).toBe(!abort);
      await nothingLeft(world, a);
    }
  },

  async 'of siblings inside a section one awaits at a time: another is told so, and keeps the lock'(
    world,
  ) {
    const [a, b] = [await world.process(), await world.process()];
    const outer = await a.acquire();
    await outer.run(async () => {
      const inner = await a.acquire();
      const woken = later(condition(a, inner).await());
      const sibling = await world.finish(a.acquire());
      const refused = later(condition(a, sibling).await());
      await expect(world.finish(refused)).rejects.toThrow(LockOptionsError);
      await expect(refused).rejects.toThrow('one inside it awaits at a time');
      expect(sibling.held).toBe(true);
      await sibling.release();
      expect(await signal(world, b)).toBe(true);
      expect(await world.finish(woken)).toBe(true);
      await inner.release();
      const next = await a.acquire();
      const again = later(condition(a, next).await({ wait: 0 }));
      expect(await world.finish(again)).toBe(false);
      await next.release();
    });
    expect(await outer.release()).toBe(true);
    await nothingLeft(world, a, b);
  },

  async 'who waits inside a section behind one that awaited has its turn inside, when that wakes first'(
    world,
  ) {
    const [a, b] = [await world.process(), await world.process()];
    const outer = await a.acquire();
    await outer.run(async () => {
      const inner = await a.acquire();
      const woken = later(condition(a, inner).await());
      const other = await world.finish(b.acquire());
      expect(await condition(b, other).signal()).toBe(true);
      const sibling = later(a.acquire({ wait: Infinity }));
      const short = later(a.acquire({ wait: 60_000 }));
      await world.waiting(1 + world.entriesOf(2));
      await other.release();
      expect(await world.finish(woken)).toBe(true);
      await world.waiting(0);
      await inner.release();
      const lease = await world.finish(sibling);
      expect([lease.held, lease.fencingToken]).toEqual([true, outer.fencingToken]);
      await lease.release();
      await (await world.finish(short)).release();
      expect(outer.held).toBe(true);
    });
    expect(await outer.release()).toBe(true);
    await nothingLeft(world, a, b);
  },

  async 'who waits inside a section has its turn there, where its holder could not begin to await'(
    world,
  ) {
    const sent = new Gate();
    const troubled: Wrap = (store) =>
      withSteps(store, {
        async acquire(ask) {
          if (!ask.former) return store.acquire(ask);
          await sent.opened;
          throw new LockStoreError('Trouble.', { outcome: 'unsent' });
        },
      });
    const a = await world.process({}, troubled);
    const outer = await a.acquire();
    await outer.run(async () => {
      const inner = await a.acquire();
      const failed = later(condition(a, inner).await());
      const sibling = later(a.acquire({ wait: Infinity }));
      await world.waiting(1);
      sent.open();
      await expect(world.finish(failed)).rejects.toThrow('Trouble');
      await inner.release();
      const lease = await world.finish(sibling);
      expect(lease.fencingToken).toBe(outer.fencingToken);
      await lease.release();
    });
    expect(await outer.release()).toBe(true);
    await nothingLeft(world, a);
  },

  async 'a shutdown wakes who awaits, with its error'(world) {
    const a = await world.process();
    const { lease, woken } = await awaiting(world, a);
    const { signal: lost } = lease;
    a.locks.stopWaiting();
    await expect(world.finish(woken)).rejects.toThrow('shut');
    expect(lease.held).toBe(false);
    expect(lost.reason).toMatchObject({ reason: 'shutdown' });
    await nothingLeft(world, a);
  },

  async 'producers and consumers of several processes lose nothing and never pass each other'(
    world,
  ) {
    const chance = random(5);
    const processes = [await world.process(), await world.process(), await world.process()];
    const buffer: number[] = [];
    const [capacity, items] = [3, 40];
    const consumed: number[] = [];
    let produced = 0;
    const under = async (
      process: LockingProcess,
      step: (lease: Lease) => Promise<void>,
    ): Promise<void> => {
      const lease = await process.acquire({ wait: 60_000 });
      await step(lease);
      await lease.release();
    };
    const produce = async (process: LockingProcess): Promise<void> => {
      while (produced < items) {
        await under(process, async (lease) => {
          while (buffer.length >= capacity) await condition(process, lease, 'not full').await();
          if (produced < items) buffer.push(produced++);
          await world.elapse(Math.floor(chance() * 2));
          await condition(process, lease, 'not empty').signal();
        });
      }
    };
    const consume = async (process: LockingProcess): Promise<void> => {
      while (consumed.length < items) {
        await under(process, async (lease) => {
          while (buffer.length === 0 && consumed.length < items) {
            await condition(process, lease, 'not empty').await();
          }
          const item = buffer.shift();
          if (item !== undefined) consumed.push(item);
          await condition(process, lease, 'not full').signal();
          if (consumed.length === items) {
            await condition(process, lease, 'not empty').signalAll();
            await condition(process, lease, 'not full').signalAll();
          }
        });
      }
    };
    await world.finish(
      Promise.all(processes.flatMap((each) => [produce(each), consume(each), consume(each)])),
    );
    expect(consumed).toEqual(Array.from({ length: items }, (_, item) => item));
    await nothingLeft(world, ...processes);
  },
};

export function condition(process: LockingProcess, lease: Lease, name = 'changed'): Condition {
  return new Condition(process.locks.conditions, lease as SingleLease, name);
}

/** A caller that holds the lock and awaits the condition; resolves when it awaits. */
export async function awaiting(
  world: World,
  process: LockingProcess,
  options: { wait?: number; signal?: AbortSignal; name?: string } = {},
): Promise<{ lease: Lease; woken: Promise<boolean> }> {
  const { name, ...rest } = options;
  const lease = await world.finish(process.acquire());
  const { awaiting: before } = await world.snapshot();
  const woken = later(condition(process, lease, name).await(rest));
  await world.until('it awaits', async () => (await world.snapshot()).awaiting > before);
  return { lease, woken };
}

async function signal(world: World, process: LockingProcess, name?: string): Promise<boolean> {
  const lease = await world.finish(process.acquire());
  const told = await condition(process, lease, name).signal();
  await lease.release();
  return told;
}

/** Of two that await different conditions in one process, each wakes that is told first. */
async function wakesEach(
  world: World,
  process: LockingProcess,
  tell: (name: string) => Promise<unknown>,
): Promise<void> {
  const names = ['one', 'other'];
  for (const order of [names, [...names].reverse()]) {
    const waits = new Map<string, Awaited<ReturnType<typeof awaiting>>>();
    for (const name of names) waits.set(name, await awaiting(world, process, { name }));
    for (const name of order) {
      const { lease, woken } = waits.get(name)!;
      await tell(name);
      expect(await world.finish(woken)).toBe(true);
      await lease.release();
    }
  }
}

async function nothingLeft(world: World, ...processes: LockingProcess[]): Promise<void> {
  await world.until('nothing is left', async () => {
    const { type, waiting, awaiting: still } = await world.snapshot();
    return type === 'none' && waiting === 0 && still === 0;
  });
  for (const { locks } of processes) {
    await world.until('all departures are over', async () => {
      if (locks.load.leaving > 0) await world.pass(POLL); // they end when nothing can arrive any more
      return locks.load.leaving === 0;
    });
    expect(locks.load).toEqual({ held: 0, waiting: 0, leaving: 0, watched: 0 });
  }
}

/** Who died is taken for dead; who lives has asked, as its polls see to. */
async function onlyThisLives(world: World, living: LockingProcess): Promise<void> {
  for (let half = 0; half < 2; half += 1) {
    await world.pass(DEAD / 2 + 100);
    await world.asked(living);
  }
}
