import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import {
  LockNotAcquiredError,
  LockShutdownError,
  LockStoreError,
} from '../../lib/engine/errors/index.js';
import { LockClient } from '../../lib/engine/client/lock-client.js';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import type { Extended, Extension } from '../../lib/engine/locks/lock-store.js';
import { momentOf } from '../../lib/engine/options/index.js';
import { Gate } from '../support/gate.js';
import { kinds } from '../support/kinds.js';
import { later } from '../support/later.js';
import { MemoryWorld } from '../support/memory-world.js';
import { noting } from '../support/noting.js';
import { type Wrap, withSteps } from '../support/world.js';

let world: MemoryWorld;
beforeEach(() => {
  world = new MemoryWorld(kinds['lock']!);
});
afterEach(() => world.close());

const REASON = new Error('enough');

it('a call within its own section that has aborted gets no second lease', async () => {
  const process = await world.process();
  const section = (await process.acquire()).openSection()!;
  const signal = AbortSignal.abort(REASON);
  await expect(section.run(() => process.acquire({ signal }))).rejects.toBe(REASON);
});

it('a holder whose wait for a condition the store refuses still holds the lock', async () => {
  const refused = new LockStoreError('no', { key: 'k', outcome: 'refused', retryable: false });
  const wrap: Wrap = (store) =>
    withSteps(store, {
      acquire: (request) => (request.former ? Promise.reject(refused) : store.acquire(request)),
    });
  const process = await world.process({}, wrap);
  const lease = (await process.acquire()) as SingleLease;
  const { conditions } = process.locks;
  const waiting = conditions.await(lease, { condition: 'c', wait: 1_000, signal: undefined });
  await expect(waiting).rejects.toBe(refused);
  expect(lease.held).toBe(true);
  expect(await lease.release()).toBe(true);
});

it('a lease on its way that is discarded before the store can be opened is given back then', async () => {
  const [giver, { store, settings, clock }] = [await world.process(), await world.process()];
  const text = await (await giver.acquire({ ttl: '1h' })).handOver();
  let [away, open] = [true, false];
  const unsent = new LockStoreError('Redis is away.', { outcome: 'unsent' });
  const late = withSteps(store, {
    async open(listener) {
      if (away) throw unsent;
      await store.open(listener);
      open = true;
    },
    leave: (request) => (open ? store.leave(request) : Promise.reject(unsent)),
  });
  const locks = new LockClient(late, settings, clock);
  await expect(locks.discard(readHandOver(text))).rejects.toBe(unsent);
  await world.elapse(60_000);
  away = false;
  await world.until('it is free', async () => (await world.snapshot()).type === 'none');
  expect(locks.load.leaving).toBe(0);
});

describe('leases that are renewed together', () => {
  it('get each its own answer', async () => {
    const answers: Record<string, Extended> = { a: 3_000, b: 'taken', c: 'free', d: 'unknown' };
    let batches: string[][] = [];
    const wrap: Wrap = (store) =>
      withSteps(store, {
        async extend(requests): Promise<Extension> {
          batches.push(requests.map(({ key }) => key));
          const remaining = requests.map(({ key }) => answers[key] ?? 3_000);
          return { sent: momentOf(world.clock), remaining };
        },
      });
    const process = await world.process({ ttl: 3_000 }, wrap);
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const leases = await Promise.all(keys.map((key) => process.acquire({ key })));
    const signals = leases.map(({ signal }) => signal);
    batches = [];
    await world.until('they are renewed', () => batches.flat().length >= 5);
    await world.elapse(10);
    expect(leases.map(({ held }) => held)).toEqual([true, false, false, true, true]);
    expect(signals.map(({ reason }) => (reason as { reason?: string })?.reason)).toEqual([
      undefined,
      'taken',
      'gone',
      undefined,
      undefined,
    ]);
  });

  it('are asked for again at once when the machine slept while the answer was under way', async () => {
    let extended = 0;
    const wrap: Wrap = (store, clock) =>
      withSteps(store, {
        async extend(requests) {
          const answer = await store.extend(requests);
          if ((extended += 1) === 1) clock.sleep(20_000);
          return answer;
        },
      });
    const process = await world.process({ ttl: 3_000 }, wrap);
    const lease = await process.acquire();
    await world.until('it is renewed', () => extended > 0);
    await world.elapse(0);
    expect(extended).toBe(2);
    expect(lease.held).toBe(true);
  });

  it('are asked for again after a pause, not at once, where nobody said whether they last', async () => {
    let extended = 0;
    const wrap: Wrap = (store, clock) =>
      withSteps(store, {
        async extend(requests): Promise<Extension> {
          if ((extended += 1) === 1) clock.sleep(20_000);
          if (extended === 100) throw new Error('Asked without end.');
          return { sent: momentOf(clock), remaining: requests.map(() => 'unknown') };
        },
      });
    const process = await world.process({ ttl: 3_000 }, wrap);
    await process.acquire();
    await world.until('it is renewed', () => extended > 0);
    await world.elapse(0);
    expect(extended).toBe(1);
  });
});

describe('a lease that is being changed', () => {
  it.each(['extend', 'downgrade'] as const)(
    'by %s is given back by itself, not in the ask of who comes next',
    async (step) => {
      const gate = new Gate();
      const steps: string[] = [];
      const slow: Wrap = (store, clock) =>
        noting(steps)(
          withSteps(store, {
            extend: (requests) => gate.after(store.extend(requests)),
            downgrade: (request) => gate.after(store.downgrade(request)),
          }),
          clock,
        );
      const process = await world.process({}, slow);
      const lease = await process.acquire();
      const next = process.acquire();
      const changing = later(lease[step]());
      await world.elapse(0);
      steps.length = 0;
      const released = lease.release();
      await world.elapse(0);
      expect(steps.slice(0, 2)).toEqual(['release', 'acquire']);
      gate.open();
      await expect(changing).rejects.toMatchObject({ code: 'LEASE_LOST' });
      expect(await world.finish(released)).toBe(true);
      expect((await world.finish(next)).held).toBe(true);
    },
  );
});

describe('a lease whose grant was long under way', () => {
  it.each([
    ['has it in memory while more than half is left', 1_400, true],
    ['is granted one of its own when less than half is left', 1_600, false],
  ])('the next caller of the process %s', async (_, underWay, inMemory) => {
    let answers = 0;
    const slow: Wrap = (store, clock) =>
      withSteps(store, {
        async acquire(ask) {
          const answer = await store.acquire(ask);
          if ((answers += 1) > 1) return answer;
          return new Promise((resolve) => clock.after(underWay, () => resolve(answer)));
        },
      });
    const process = await world.process({ ttl: 3_000 }, slow);
    const lease = await world.finish(process.acquire());
    const next = process.acquire();
    const { expiresAt } = lease;
    await lease.release();
    expect((await world.finish(next)).expiresAt === expiresAt).toBe(inMemory);
  });
});

describe('a signal under which one waits', () => {
  it('has no listener any more, however the wait ended', async () => {
    const { signal } = new AbortController();
    const [a, b] = [await world.process(), await world.process()];
    const first = await a.acquire({ signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const waits = [
      later(b.acquire({ signal, wait: 0 })),
      later(b.acquire({ signal, wait: 100 })),
      later(a.acquire({ signal, wait: 100 })),
    ];
    await world.elapse(50);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await world.elapse(100);
    for (const wait of waits) await expect(wait).rejects.toThrow(LockNotAcquiredError);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const next = [b.acquire({ signal }), a.acquire({ signal })];
    await world.waiting(1);
    await first.release();
    for (const each of next) await (await world.finish(each)).release();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('that aborts later costs nobody the lease that it has', async () => {
    const controller = new AbortController();
    const process = await world.process();
    const lease = await process.acquire({ signal: controller.signal });
    controller.abort(REASON);
    await lease.extend();
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  });
});

describe('an old ask that runs after the lock was given back', () => {
  const TIMEOUT = 1_000;

  /** Its first ask is lost, and runs when it has given the lock back; the answer comes when no ask can run any more. */
  async function late(): Promise<{ lease: SingleLease; locks: LockClient; answer: Gate }> {
    const answer = new Gate();
    let lost: LockRequest | undefined;
    const process = await world.process({ commandTimeout: TIMEOUT }, (store) => {
      const runsAfter = <Answer>(step: Promise<Answer>): Promise<Answer> => {
        const both = step.then(async (done) => {
          await store.acquire(lost!);
          return done;
        });
        return answer.after(both);
      };
      return withSteps(store, {
        acquire: (request) => {
          if (request.former) return runsAfter(store.acquire(request));
          if (lost) return store.acquire(request);
          lost = { ...request, wanted: () => true };
          const error = new LockStoreError('No answer.', { outcome: 'unknown', retryable: true });
          return Promise.reject(error);
        },
        release: (request, leastLeft, served) =>
          runsAfter(store.release(request, leastLeft, served)),
        transfer: (request, successor) => runsAfter(store.transfer(request, successor)),
      });
    });
    const lease = (await world.finish(later(process.acquire()))) as SingleLease;
    return { lease, locks: process.locks, answer };
  }

  async function answered(answer: Gate): Promise<void> {
    await world.elapse(2 * TIMEOUT);
    answer.open();
    await world.elapse(10);
  }

  it('leaves nothing of a release', async () => {
    const { lease, answer } = await late();
    const released = later(lease.release());
    await answered(answer);
    expect(await world.finish(released)).toBe(true);
    expect(await world.holder()).toBe('');
  });

  it('leaves nothing of a wait for a condition', async () => {
    const { lease, locks, answer } = await late();
    const waiting = { condition: 'c', wait: Infinity, signal: undefined };
    void later(locks.conditions.await(lease, waiting));
    await answered(answer);
    expect(await world.holder()).toBe('');
  });

  it('leaves nothing of a hand-over in the queue', async () => {
    const { lease, answer } = await late();
    const handedOver = later(lease.handOver());
    await answered(answer);
    expect(await world.finish(handedOver)).not.toBe('');
    expect((await world.snapshot()).waiting).toBe(0);
  });
});

describe('several locks', () => {
  it('of which the first is lost before the last is held are none for a call that does not wait', async () => {
    const answers = new Gate();
    const late: Wrap = (store) =>
      withSteps(store, {
        acquire: (ask) =>
          ask.key === 'k' ? answers.after(store.acquire(ask)) : store.acquire(ask),
      });
    const [a, b] = [await world.process({}, late), await world.process()];
    const both = later(a.acquire({ key: ['j', 'k'], wait: 0 }));
    await world.until('the first is held', async () => (await world.holder('j')) !== '');
    await b.locks.force('j');
    await world.elapse(10);
    answers.open();
    await expect(world.finish(both)).rejects.toMatchObject({ code: 'LOCK_NOT_ACQUIRED', key: 'j' });
    await world.until('nothing is held', async () => (await world.holder('k')) === '');
  });

  it('are waited for as long as the call says, not each as long', async () => {
    const [a, b] = [await world.process(), await world.process()];
    const [first] = [await b.acquire({ key: 'j' }), await b.acquire({ key: 'k' })];
    const from = world.clock.monotonic();
    const both = later(a.acquire({ key: ['j', 'k'], wait: 1_000 }));
    await world.elapse(600);
    await first.release();
    await expect(world.finish(both)).rejects.toMatchObject({ key: 'k', code: 'LOCK_NOT_ACQUIRED' });
    expect(world.clock.monotonic() - from).toBeLessThan(1_100);
    expect(await world.holder('j')).toBe('');
  });

  it('of which one is lost are extended no more', async () => {
    const [a, b] = [await world.process(), await world.process()];
    const both = await a.acquire({ key: ['j', 'k'], ttl: 2_000 });
    await b.locks.force('j');
    await world.until('it is lost', () => !both.held);
    await expect(world.finish(both.extend('1m'))).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await world.elapse(0);
    expect((await world.snapshot('k')).remaining).toBeLessThanOrEqual(2_000);
    expect(await world.finish(both.release())).toBe(false);
  });
});

describe('a lease that was held for its minimum', () => {
  it('is not kept for a moment longer', async () => {
    const [a, b] = [await world.process({ minHold: 100 }), await world.process()];
    const lease = await a.acquire();
    await world.elapse(100);
    await lease.release();
    const next = later(b.acquire({ wait: 0 }));
    await world.elapse(0);
    expect((await next).held).toBe(true);
  });
});

describe('a process that is closed, also without a drain', () => {
  it('has no timer any more for those who waited', async () => {
    const process = await world.process({ ttl: 3_000 });
    await process.acquire();
    const waits = later(process.acquire({ wait: 60_000 }));
    await world.elapse(10);
    await world.finish(process.locks.close());
    await expect(waits).rejects.toThrow(LockShutdownError);
    await world.elapse(1_000);
    expect(world.clock.pending).toBe(0);
  });

  it('says that it is shut down, whatever is asked', async () => {
    const { locks } = await world.process();
    await world.finish(locks.close());
    const search = { pattern: '*', most: 1, mayBe: () => true };
    const asked = [
      () => locks.inspect('k', 1),
      () => locks.names(search),
      () => locks.force('k'),
      () => locks.optimistic('k'),
    ];
    for (const ask of asked) await expect(ask()).rejects.toThrow(LockShutdownError);
  });

  it('gives back what it holds, and tells its holders', async () => {
    const [a, b] = [await world.process(), await world.process()];
    const { signal } = await a.acquire();
    await world.finish(a.locks.close());
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'shutdown' });
    expect((await b.acquire({ wait: 0 })).held).toBe(true);
  });
});
