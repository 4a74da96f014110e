import { expect } from '@jest/globals';
import { LockShutdownError, LockStoreError } from '../../lib/engine/errors/index.js';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { atMost, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { Gate } from '../support/gate.js';
import { later } from '../support/later.js';
import { expectNothingLeft } from '../support/nothing-left.js';
import { type LockingProcess, withSteps, type World, type Wrap } from '../support/world.js';

const GRACE = 2_000;

/** It was done, and the answer comes late. */
const done = (run: () => Promise<unknown>, gate: Gate): Promise<unknown> => gate.after(run());

export const shutdown: Contract = {
  async 'who waits is refused at once, and so is who comes later'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const held = await b.acquire();
    const waiting = later(a.acquire({ wait: Infinity }));
    await world.waiting(1);
    const closing = shutDown(a);
    await expect(waiting).rejects.toThrow(LockShutdownError);
    await expect(a.acquire({ key: 'other' })).rejects.toThrow(LockShutdownError);
    await expect(a.acquire({ wait: 0 })).rejects.toThrow(LockShutdownError);
    expect(await world.finish(closing)).toEqual([]);
    await world.waiting(0);
    expect(await held.release()).toBe(true);
    await expectNothingLeft(world, a, b);
  },

  async 'what is held is renewed until it is given back, and nobody comes in meanwhile'(world) {
    const [a, b] = [await world.process({ shutdownGrace: 5 * TTL }), await world.process()];
    const lease = await a.acquire({ ttl: TTL });
    const waiting = later(b.acquire({ wait: Infinity }));
    const next = watch(waiting);
    await world.waiting(1);
    const closing = shutDown(a);
    const closed = watch(closing);
    for (let time = 0; time < 4; time += 1) {
      await world.renewed(a, TTL);
      await world.asked(b); // what is on its way at a quorum when the clock steps fails: four times are an outage
    }
    expect([lease.held, lease.signal.aborted]).toEqual([true, false]);
    expect([closed.settled, next.settled]).toEqual([false, false]);
    expect(await lease.release()).toBe(true);
    expect(await world.finish(closing)).toEqual([]);
    expect(await (await world.finish(waiting)).release()).toBe(true);
    await expectNothingLeft(world, a, b);
  },

  async 'what is left when the grace is over is told and named, and who waits comes next'(world) {
    const a = await world.process({ shutdownGrace: 1_000 });
    const b = await world.process();
    const lease = await a.acquire({ ttl: 5_000 });
    const waiting = later(b.acquire());
    await world.waiting(1);
    const from = world.clock.monotonic();
    const { signal } = lease;
    const taken = await world.finish(shutDown(a));
    expect(world.clock.monotonic() - from).toBeGreaterThan(990);
    expect(taken).toEqual(['k']);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'shutdown' });
    expect(lease.held).toBe(false);
    expect(await (await world.finish(waiting)).release()).toBe(true);
    await expectNothingLeft(world, a, b);
  },

  async 'whoever works under what is taken back is told before the store is'(world) {
    const told: boolean[] = [];
    const watching: Wrap = (store) =>
      withSteps(store, {
        release: (request, keep, served) => {
          told.push(lease.signal.aborted, lease.held);
          return store.release(request, keep, served);
        },
      });
    const a = await world.process({ shutdownGrace: 0 }, watching);
    const lease = await a.acquire();
    const { signal } = lease;
    expect(a.locks.takeAll()).toEqual(['k']);
    expect(told).toEqual([true, false]);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'shutdown' });
    await world.finish(a.locks.close());
    await expectNothingLeft(world, a);
  },

  async 'without a grace it waits for nothing'(world) {
    const a = await world.process({ shutdownGrace: 0 });
    const lease = await a.acquire();
    expect(await a.locks.drain()).toEqual([]);
    expect(lease.held).toBe(true);
    expect(a.locks.takeAll()).toEqual(['k']);
    expect(lease.held).toBe(false);
    await world.finish(a.locks.close());
    await expectNothingLeft(world, a);
  },

  async 'a lease that is just being given back has been when the store is closed'(world) {
    for (const grace of [GRACE, 0]) {
      const { wrap, asked, answers } = late('release', done);
      const a = await world.process({ shutdownGrace: grace }, wrap);
      const lease = await a.acquire();
      const released = lease.release();
      await asked.opened;
      const closing = shutDown(a);
      const closed = watch(closing);
      await world.elapse(20);
      expect(closed.settled).toBe(false);
      answers.open();
      expect(await world.finish(released)).toBe(true);
      expect(await world.finish(closing)).toEqual([]);
      expect(await free(world)).toBe(true);
    }
  },

  async 'a store that does not answer holds it up no longer than the grace and a second'(world) {
    const a = await world.process({ shutdownGrace: 1_000, commandTimeout: 20_000 });
    const lease = await a.acquire({ ttl: 30_000 });
    const waiting = later(a.acquire({ wait: Infinity, reentrant: false }));
    await world.waiting(1);
    await world.pause();
    const from = world.clock.monotonic();
    const closing = shutDown(a);
    await expect(waiting).rejects.toThrow(LockShutdownError);
    expect(await world.finish(closing)).toEqual(['k']);
    expect(world.clock.monotonic() - from).toBeGreaterThan(990);
    expect(world.clock.monotonic() - from).toBeLessThan(atMost(world, 2_000));
    expect(lease.held).toBe(false);
  },

  async 'a store that does not answer holds it up less than a second where nothing is held'(world) {
    const [a, b] = [await world.process({ commandTimeout: 20_000 }), await world.process()];
    await b.acquire();
    const waiting = later(a.acquire({ wait: Infinity }));
    await world.waiting(1);
    await world.pause();
    const from = world.clock.monotonic();
    expect(await world.finish(shutDown(a))).toEqual([]);
    await expect(waiting).rejects.toThrow(LockShutdownError);
    expect(world.clock.monotonic() - from).toBeLessThan(atMost(world, 1_000));
  },
};

export const shutdownOfLocks: Contract = {
  async 'who holds a lock enters it again, in turn with its siblings, and gets no other'(world) {
    const a = await world.process();
    const lease = await a.acquire();
    const inside = new Gate();
    const leave = new Gate();
    let most = 0;
    let now = 0;
    const sibling = async (): Promise<void> => {
      const again = await a.acquire();
      most = Math.max(most, (now += 1));
      expect(again.fencingToken).toBe(lease.fencingToken);
      await leave.opened;
      now -= 1;
      expect(await again.release()).toBe(true);
    };
    const body = lease.run(async () => {
      const first = later(sibling());
      inside.open();
      await leave.opened;
      const others = [later(sibling()), later(sibling())];
      await expect(a.acquire({ key: 'other' })).rejects.toThrow(LockShutdownError);
      await expect(a.acquire({ key: ['k', 'other'] })).rejects.toThrow(LockShutdownError);
      await Promise.all([first, ...others]);
    });
    await inside.opened;
    const closing = shutDown(a);
    leave.open();
    await world.finish(body);
    expect(most).toBe(1);
    expect(await lease.release()).toBe(true);
    expect(await world.finish(closing)).toEqual([]);
    await expectNothingLeft(world, a);
  },

  async 'who would await a condition is refused, and keeps the lock'(world) {
    const a = await world.process();
    const lease = (await a.acquire()) as SingleLease;
    const closing = shutDown(a);
    const awaiting = { condition: 'c', wait: Infinity, signal: undefined };
    await expect(a.locks.conditions.await(lease, awaiting)).rejects.toThrow(LockShutdownError);
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
    expect(await world.finish(closing)).toEqual([]);
    await expectNothingLeft(world, a);
  },

  async 'who is refused while it gives its lock back for a condition holds nothing, also if that did not happen'(
    world,
  ) {
    const { wrap, asked, answers } = late('acquire', unsent, ({ former }) => former !== undefined);
    const a = await world.process({}, wrap);
    const lease = (await a.acquire()) as SingleLease;
    const awaiting = { condition: 'c', wait: Infinity, signal: undefined };
    const woken = later(a.locks.conditions.await(lease, awaiting));
    await asked.opened;
    const drained = a.locks.drain();
    await expect(woken).rejects.toThrow(LockShutdownError);
    expect(lease.held).toBe(false);
    expect(await lease.release()).toBe(false);
    answers.open();
    await world.until('the lock is free', () => free(world));
    expect(await world.finish(drained)).toEqual([]);
    await world.finish(a.locks.close());
    await expectNothingLeft(world, a);
  },

  async 'several locks of one lease are kept and taken together'(world) {
    const a = await world.process({ shutdownGrace: 2 * TTL });
    const lease = await a.acquire({ key: ['x', 'y'], ttl: TTL });
    const closing = shutDown(a);
    await world.renewed(a, TTL, 4);
    expect(lease.held).toBe(true);
    await world.pass(TTL);
    expect([...(await world.finish(closing))].sort()).toEqual(['x', 'y']);
    expect(lease.signal.reason).toMatchObject({ reason: 'shutdown' });
    await expectNothingLeft(world, a);
  },
};

/** Of what a quorum does not have. */
export const shutdownOfHandOvers: Contract = {
  async 'a hand-over under way comes to its end'(world) {
    const { wrap, asked, answers } = late('transfer', done);
    const a = await world.process({ shutdownGrace: GRACE }, wrap);
    const b = await world.process();
    const lease = await a.acquire();
    const text = lease.handOver();
    await asked.opened;
    const closing = shutDown(a);
    const closed = watch(closing);
    await world.elapse(20);
    expect(closed.settled).toBe(false);
    answers.open();
    const taken = await world.finish(b.locks.restore(readHandOver(await world.finish(text))));
    expect(await world.finish(closing)).toEqual([]);
    expect(taken.held).toBe(true);
    expect(await taken.release()).toBe(true);
  },

  async 'a hand-over that comes to nothing after the grace is over is given back'(world) {
    const { wrap, asked, answers } = late('transfer', unsent);
    const a = await world.process({ shutdownGrace: 100 }, wrap);
    const lease = await a.acquire();
    const text = later(lease.handOver());
    await asked.opened;
    expect(await world.finish(a.locks.drain())).toEqual([]);
    answers.open();
    await expect(text).rejects.toThrow(LockStoreError);
    expect(lease.held).toBe(false);
    expect(lease.signal.reason).toMatchObject({ reason: 'shutdown' });
    await world.finish(a.locks.close());
    await expectNothingLeft(world, a);
  },

  async 'a restoration under way comes to its end, and its lease is held until it is given back'(
    world,
  ) {
    const { a, b, restoring, answers } = await restorationUnderWay(world, 5_000);
    const closing = shutDown(a);
    const closed = watch(closing);
    await world.elapse(20);
    answers.open();
    const lease = await world.finish(restoring);
    await world.elapse(20);
    expect([lease.held, closed.settled]).toEqual([true, false]);
    expect(await lease.release()).toBe(true);
    expect(await world.finish(closing)).toEqual([]);
    await expectNothingLeft(world, a, b);
  },

  async 'a restoration that has no answer when the grace is over is refused, and leaves nothing'(
    world,
  ) {
    const { a, b, restoring, answers } = await restorationUnderWay(world, 60_000);
    await world.finish(shutDown(a));
    await expect(restoring).rejects.toThrow(LockShutdownError);
    await world.until('the lock is free', () => free(world));
    answers.open();
    await world.elapse(20);
    expect(await free(world)).toBe(true);
    await expectNothingLeft(world, a, b);
  },

  async 'a restoration that is refused asks no more'(world) {
    let asked = 0;
    const wrap: Wrap = (store) =>
      withSteps(store, {
        transfer: () => {
          asked += 1;
          return Promise.reject(new LockStoreError('Not sent.', { key: 'k', outcome: 'unsent' }));
        },
      });
    const b = await world.process();
    const a = await world.process({ shutdownGrace: 0, commandTimeout: 5_000 }, wrap);
    const text = await (await b.acquire()).handOver();
    const restoring = later(a.locks.restore(readHandOver(text)));
    await world.until('it has asked again', () => asked > 1);
    await world.finish(shutDown(a));
    await expect(restoring).rejects.toThrow(LockShutdownError);
    const before = asked;
    await world.elapse(300);
    expect(asked).toBe(before);
    expect(await (await b.locks.restore(readHandOver(text))).release()).toBe(true);
  },

  async 'a restoration begun later is refused, and another process may go on with it'(world) {
    const [a, b] = [await world.process(), await world.process()];
    const text = await (await a.acquire()).handOver();
    const closing = shutDown(a);
    const refused: Promise<Lease> = a.locks.restore(readHandOver(text));
    await expect(refused).rejects.toThrow(LockShutdownError);
    expect(await world.finish(closing)).toEqual([]);
    expect(await (await b.locks.restore(readHandOver(text))).release()).toBe(true);
  },
};

/** As an application shuts down: resolves to the keys of what was taken. */
async function shutDown({ locks }: LockingProcess): Promise<readonly string[]> {
  const taken = await locks.drain();
  await locks.close();
  return taken;
}

/** Whether a promise has settled. */
function watch(promise: Promise<unknown>): { settled: boolean } {
  const watched = { settled: false };
  const settle = (): void => void (watched.settled = true);
  promise.then(settle, settle);
  return watched;
}

/** A store whose answer to a step is late: whoever asked hears, when the gate opens, what `answer` comes to. */
interface Late {
  readonly wrap: Wrap;
  readonly asked: Gate;
  readonly answers: Gate;
}

function late(
  step: 'acquire' | 'release' | 'transfer',
  answer: (run: () => Promise<unknown>, gate: Gate) => Promise<unknown>,
  isMeant: (ask: Partial<LockRequest>) => boolean = () => true,
): Late {
  const [asked, answers] = [new Gate(), new Gate()];
  const wrap: Wrap = (store) => {
    const right = store[step].bind(store) as (...all: unknown[]) => Promise<unknown>;
    const instead = (...all: unknown[]): Promise<unknown> => {
      if (!isMeant(all[0] as LockRequest)) return right(...all);
      asked.open();
      return answer(() => right(...all), answers);
    };
    return withSteps(store, { [step]: instead } as Partial<LockStore>);
  };
  return { wrap, asked, answers };
}

/** It comes late that nothing was sent. */
async function unsent(_run: unknown, gate: Gate): Promise<never> {
  await gate.opened;
  throw new LockStoreError('It was not sent.', { key: 'k', outcome: 'unsent' });
}

/** A takes over what B has handed over; Redis has done it, and the answer is on its way. */
async function restorationUnderWay(
  world: World,
  ttl: number,
): Promise<{ a: LockingProcess; b: LockingProcess; restoring: Promise<Lease>; answers: Gate }> {
  const b = await world.process();
  const { wrap, asked, answers } = late('transfer', done);
  const a = await world.process({ shutdownGrace: GRACE }, wrap);
  const text = await (await b.acquire({ ttl })).handOver();
  const restoring = later(a.locks.restore(readHandOver(text)));
  await asked.opened;
  return { a, b, restoring, answers };
}

async function free(world: World): Promise<boolean> {
  return (await world.snapshot()).type === 'none';
}
