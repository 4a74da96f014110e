import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockNotAcquiredError, LockStoreError } from '../../lib/engine/errors/index.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { BUDGET } from '../../lib/engine/client/queue/time-slice.js';
import type { AcquireOptions } from '../../lib/engine/options/index.js';
import { Gate } from '../support/gate.js';
import { kinds } from '../support/kinds.js';
import { later } from '../support/later.js';
import { MemoryWorld } from '../support/memory-world.js';
import { noting } from '../support/noting.js';
import { type LockingProcess, withSteps } from '../support/world.js';

let world: MemoryWorld;
beforeEach(() => {
  world = new MemoryWorld(kinds['lock']!);
});
afterEach(() => world.close());

/** Two turns of this length fit into a time slice, and the third ends after it. */
const LONG = BUDGET.ms * 0.4;
/** Before an ask is answered, so short a turn is over. */
const SHORT = 0.1;

describe('in the last turn of its time slice, a process', () => {
  it('asks for its next entry while it lasts, where others wait: what they wait for is a mere release', async () => {
    const steps = await behindAnother([LONG, LONG, LONG, LONG]);
    expect(steps.join(' ')).toBe('acquire turn turn turn acquire release turn release');
  });

  it('asks in the step that gives the lock back, where nobody else waits', async () => {
    const steps: string[] = [];
    const process = await world.process({}, noting(steps));
    await world.finish(callers(process, steps, [LONG, LONG, LONG, LONG]));
    expect(steps.join(' ')).toBe('acquire turn turn turn yield turn release');
  });

  it('asks in that step, too, where the turn is over before an ask would be answered', async () => {
    const steps = await behindAnother(Array.from({ length: 120 }, () => SHORT));
    expect(steps.filter((step) => step !== 'turn')).toEqual(['acquire', 'yield', 'release']);
  });

  it('is not sure of it while a turn as short as one before would fit in', async () => {
    const steps = await behindAnother([1, BUDGET.ms * 0.6, 1, 1, 1, 1]);
    expect(steps.join(' ')).toBe('acquire turn turn turn turn turn acquire release turn release');
  });

  it('loses no caller where the queue is full: who gives a lock back has room in it', async () => {
    const steps: string[] = [];
    const limits = { waitersPerKey: 2 };
    const process = (store?: ReturnType<typeof noting>) => world.process({ limits }, store);
    const [z, a, b, c, d] = [
      await process(),
      await process(),
      await process(noting(steps)),
      await process(),
      await process(),
    ];
    const lease = await z.acquire();
    const before = later(a.acquire());
    await world.waiting(1);
    const all = callers(b, steps, [LONG, LONG, LONG, LONG]);
    await world.waiting(2);
    await lease.release();
    const behind = [later(c.acquire())];
    await world.waiting(2);
    await (await world.finish(before)).release();
    behind.push(later(d.acquire()));
    await world.waiting(2);
    for (const other of behind) await (await world.finish(other)).release();
    await world.finish(all);
    expect(steps.filter((step) => step === 'turn').length).toBe(4);
  });
});

describe('in an outage, of callers that wait behind one another in the store', () => {
  const options = { fairness: 'strict', commandTimeout: 100, outageWait: 1_000 } as const;
  /** More than the first of them needs to find out. */
  const OUTAGE = 2_500;

  /** One that awaits a condition, and three that wait for the lock; each with what comes of it. */
  async function crowd(wait: number, outageWait: number = options.outageWait) {
    const [holder, process] = [
      await world.process(),
      await world.process({ ...options, outageWait }),
    ];
    const mine = (await world.finish(process.acquire({ ttl: 60_000 }))) as SingleLease;
    const condition = new Condition(process.locks.conditions, mine, 'changed');
    const calls: Promise<unknown>[] = [condition.await({ wait: Infinity })];
    await world.finish(holder.acquire({ ttl: 60_000 }));
    for (let nth = 0; nth < 3; nth += 1) calls.push(process.acquire({ wait }));
    await world.waiting(3);
    const ends: unknown[] = [];
    for (const [nth, call] of calls.entries()) call.catch((error: unknown) => (ends[nth] = error));
    return ends;
  }

  it('all are told that it lasts too long, none after the other', async () => {
    const ends = await crowd(Infinity);
    await world.pause();
    await world.pass(OUTAGE);
    expect(ends.length).toBe(4);
    for (const end of ends) {
      expect(end).toBeInstanceOf(LockStoreError);
      expect(end).toMatchObject({ key: 'k' });
    }
  });

  it('all whose wait is over are told of it, not that another holds the lock', async () => {
    const ends = await crowd(OUTAGE, 60_000);
    await world.pause();
    await world.pass(2 * OUTAGE);
    expect(ends.slice(1)).toEqual(Array.from({ length: 3 }, () => expect.any(LockStoreError)));
  });

  it('none is told of it whose wait is over after it', async () => {
    const ends = await crowd(2 * OUTAGE, 60_000);
    await world.pause();
    await world.pass(OUTAGE);
    await world.resume();
    await world.pass(2 * OUTAGE);
    expect(ends.slice(1)).toEqual(
      Array.from({ length: 3 }, () => expect.any(LockNotAcquiredError)),
    );
  });
});

describe('callers of whom none had queued yet in an outage', () => {
  const commandTimeout = 1_000;
  const wait = 10 * commandTimeout;
  const outOfMemory = new LockStoreError('It is out of memory.', { outcome: 'refused' });

  it('wait as long as they asked to, once it is over and the first of them has the lock', async () => {
    let asks = 0;
    const process = await world.process({ commandTimeout }, (store) =>
      withSteps(store, {
        async acquire(ask) {
          asks += 1;
          if (asks === 1) throw outOfMemory;
          const late = commandTimeout - BUDGET.ms / 2 - world.clock.monotonic() + began;
          await new Promise<void>((resolve) => world.clock.after(late, resolve));
          return store.acquire(ask);
        },
      }),
    );
    const began = world.clock.monotonic();
    const [first, second] = [later(process.acquire()), later(process.acquire({ wait }))];
    const held = first.then(async (lease) => {
      await new Promise<void>((resolve) => world.clock.after(BUDGET.ms * 0.9, resolve));
      await lease.release();
    });
    await world.finish(held);
    expect(world.clock.monotonic() - began).toBeGreaterThan(commandTimeout);
    expect((await world.finish(second)).held).toBe(true);
    expect(asks).toBe(2); // it was handed on in memory
  });

  it('are told of it after `commandTimeout`, however long they asked to wait', async () => {
    const process = await world.process({ commandTimeout }, (store) =>
      withSteps(store, { acquire: () => Promise.reject(outOfMemory) }),
    );
    const began = world.clock.monotonic();
    const calls = [later(process.acquire({ wait })), later(process.acquire({ wait }))];
    for (const call of calls) await expect(world.finish(call)).rejects.toBe(outOfMemory);
    expect(world.clock.monotonic() - began).toBeLessThan(2 * commandTimeout);
  });
});

describe('a caller that gave up', () => {
  const LONGER = 60_000;

  /** What the one behind it acquires, whose lease is shorter. */
  async function behindOneThatLeft(
    process: LockingProcess,
    options: AcquireOptions,
  ): Promise<SingleLease> {
    const controller = new AbortController();
    void later(process.acquire({ ttl: LONGER, signal: controller.signal }));
    const second = later(process.acquire(options));
    controller.abort();
    return (await world.finish(second)) as SingleLease;
  }

  const left = (lease: SingleLease): number => lease.expiresAt - world.clock.wall();

  it('takes nothing from the one behind it, whose lease is shorter and begins when the answer comes', async () => {
    const process = await world.process({}, (store) =>
      withSteps(store, {
        acquire: async (ask) => {
          const answer = await store.acquire(ask);
          await new Promise<void>((resolve) => world.clock.after(100, resolve));
          return answer;
        },
      }),
    );
    const lease = await behindOneThatLeft(process, { ttl: 80 });
    expect(lease.held).toBe(true);
    expect(left(lease)).toBeLessThanOrEqual(80);
    await lease.release();
  });

  it('leaves no entry, however short its lease was to be, when the store answers again', async () => {
    let isAway = false;
    const process = await world.process({}, (store) =>
      withSteps(store, {
        leave: (...step) =>
          isAway ? Promise.reject(new LockStoreError('It is away.')) : store.leave(...step),
      }),
    );
    const holder = await (await world.process()).acquire();
    const controller = new AbortController();
    void later(process.acquire({ ttl: 50, signal: controller.signal }));
    await world.waiting(1);
    isAway = true;
    controller.abort();
    await world.elapse(5_000);
    isAway = false;
    await world.elapse(2_500);
    expect((await world.snapshot()).waiting).toBe(0);
    await holder.release();
  });

  it('leaves nothing on the server of its longer lease, also without renewal', async () => {
    const process = await world.process();
    await behindOneThatLeft(process, { ttl: 80, renew: false });
    await world.until('the server was told', () => process.answered.renewals > 0);
    expect((await world.snapshot()).remaining).toBeLessThanOrEqual(80);
  });

  it('leaves nothing on the server also where the first telling fails, without renewal', async () => {
    let fails = true;
    const process = await world.process({}, (store) =>
      withSteps(store, {
        extend: (requests) => {
          if (!fails) return store.extend(requests);
          fails = false;
          return Promise.reject(new LockStoreError('It is away.', { outcome: 'unsent' }));
        },
      }),
    );
    await behindOneThatLeft(process, { ttl: 10_000, renew: false });
    await world.elapse(2_500);
    expect((await world.snapshot()).remaining).toBeLessThanOrEqual(7_500);
  });

  it('makes the one behind it ask for its own ttl to the ms, whatever doubles round', async () => {
    const ttls = new Set<number>();
    const process = await world.process({}, (store) =>
      withSteps(store, {
        extend: (requests) => {
          ttls.add(requests[0]!.ttl);
          return store.extend(requests);
        },
      }),
    );
    for (let power = 19; power < 36; power += 1) {
      const soon = 2 ** power - 700.3; // within the lease, doubles become coarser
      await world.elapse(soon - world.clock.monotonic());
      const lease = await behindOneThatLeft(process, { ttl: 1_500 });
      await lease.release();
    }
    expect([...ttls]).toEqual([1_500]);
  });

  it('leaves nothing on the server also where the server is told late', async () => {
    let isLate = true;
    const process = await world.process({}, (store) =>
      withSteps(store, {
        extend: async (requests) => {
          if (isLate) await new Promise<void>((resolve) => world.clock.after(2_500, resolve));
          isLate = false;
          return store.extend(requests);
        },
      }),
    );
    await behindOneThatLeft(process, { ttl: 10_000 });
    await world.elapse(2_600);
    expect((await world.snapshot()).remaining).toBeLessThanOrEqual(10_000);
  });

  it('shortens nothing that the one behind it asks for, though a renewal runs before the answer', async () => {
    const answer = new Gate();
    const process = await world.process({}, (store) =>
      withSteps(store, {
        extend: (requests) => {
          const extension = store.extend(requests);
          return requests[0]!.ttl === 5_000 ? answer.after(extension) : extension;
        },
      }),
    );
    const lease = await behindOneThatLeft(process, { ttl: 1_500 });
    await world.until('the server was told', () => process.answered.renewals === 1);
    const extending = later(lease.extend(5_000));
    await world.renewed(process, 1_500);
    answer.open();
    await world.finish(extending);
    expect((await world.snapshot()).remaining).toBeGreaterThan(3_000);
    await lease.release();
  });

  it('leaves its request to the one behind it: the store finds an entry by the ttl that was asked for', async () => {
    const ttls: number[] = [];
    const process = await world.process({}, (store) =>
      withSteps(store, {
        release: (request, ...more) => {
          ttls.push(request.ttl);
          return store.release(request, ...more);
        },
      }),
    );
    const lease = await behindOneThatLeft(process, { ttl: 80 });
    await lease.release();
    expect(ttls).toEqual([LONGER]);
  });

  it('does not lengthen the lease of the one behind it that is handed over', async () => {
    const process = await world.process();
    const lease = await behindOneThatLeft(process, { ttl: 80, renew: false });
    const text = await world.finish(lease.handOver());
    const restored = await world.finish(process.locks.restore(readHandOver(text)));
    expect(left(restored as SingleLease)).toBeLessThanOrEqual(80);
    await restored.release();
  });

  it('does not lengthen the lease of the one behind it that awaits a condition', async () => {
    const process = await world.process();
    const lease = await behindOneThatLeft(process, { ttl: 80 });
    await world.finish(
      new Condition(process.locks.conditions, lease, 'changed').await({ wait: 0 }),
    );
    expect(left(lease)).toBeLessThanOrEqual(80);
    await lease.release();
  });
});

/** What a process sends, and its turns, when another was before it in the queue. */
async function behindAnother(turns: readonly number[]): Promise<string[]> {
  const steps: string[] = [];
  const [z, a, b] = [
    await world.process(),
    await world.process(),
    await world.process({}, noting(steps)),
  ];
  const lease = await z.acquire();
  const other = later(a.acquire());
  await world.waiting(1);
  const all = callers(b, steps, turns);
  await world.waiting(2);
  await lease.release();
  await (await world.finish(other)).release();
  await world.finish(all);
  return steps;
}

/** Callers that come in this order, for so many ms each; notes each turn as it begins. */
function callers(process: LockingProcess, steps: string[], turns: readonly number[]) {
  const call = async (ms: number): Promise<void> => {
    const lease = await process.acquire({ fencing: false }); // the first grant reserves few tokens
    steps.push('turn');
    await new Promise<void>((resolve) => world.clock.after(ms, resolve));
    await lease.release();
  };
  return later(Promise.all(turns.map(call)));
}
