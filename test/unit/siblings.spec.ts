import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { getEventListeners } from 'node:events';
import { type Lease, LockNotAcquiredError, type LockService } from '../../lib/index.js';
import { ManualClock, memoryLockService, MemoryServer } from '../../lib/memory/testing/index.js';
import { Gate } from '../support/gate.js';
import { later } from '../support/later.js';

Logger.overrideLogger(false);

let clock: ManualClock;
let locks: LockService;
let rival: LockService;
beforeEach(async () => {
  clock = new ManualClock();
  const server = new MemoryServer(clock);
  [locks, rival] = [memoryLockService({ server }), memoryLockService({ server })];
  await Promise.all([locks.onModuleInit(), rival.onModuleInit()]);
});
afterEach(async () => {
  await Promise.all([locks, rival].map((service) => service.onApplicationShutdown()));
  if (clock.pending > 0) throw new Error(`${clock.pending} timers are left.`);
});

const REASON = new Error('enough');

describe('a sibling inside a lock that waits for its turn', () => {
  it('and aborts, has none: the next one has', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await besideSibling(async (first) => {
      const gone = later(locks.acquire('k', { signal }));
      const next = locks.acquire('k');
      await settled();
      controller.abort(REASON);
      await expect(gone).rejects.toBe(REASON);
      expectUnheard(signal);
      await first.release();
      const lease = await next;
      expect([lease.held, lease.fencingToken]).toEqual([true, first.fencingToken]);
      await lease.release();
    });
    expect((await rival.inspect('k')).state).toBe('free');
  });

  it('and aborts as the last in a row, leaves the others their turns', async () => {
    const controller = new AbortController();
    await besideSibling(async (first) => {
      const turns: number[] = [];
      const turn = (nth: number): Promise<void> =>
        locks.withLock('k', async () => void turns.push(nth));
      const waiting = [turn(1), turn(2)];
      const gone = later(locks.acquire('k', { signal: controller.signal }));
      const last = turn(3);
      await settled();
      controller.abort(REASON);
      await expect(gone).rejects.toBe(REASON);
      expect(turns).toEqual([]);
      await first.release();
      await Promise.all([...waiting, last]);
      expect(turns).toEqual([1, 2, 3]);
    });
  });

  it('with a signal that has aborted does not wait', async () => {
    await besideSibling(async (first) => {
      await expect(locks.acquire('k', { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
      await first.release();
      await (await locks.acquire('k', { wait: 0 })).release();
    });
  });

  it('has the lock although its signal aborts later; nothing listens to that any more', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await besideSibling(async (first) => {
      const second = locks.acquire('k', { signal, wait: '5s' });
      await settled();
      await first.release();
      const lease = await second;
      expectUnheard(signal);
      controller.abort(REASON);
      await clock.advance(6_000);
      expect(lease.held).toBe(true);
      const third = later(locks.acquire('k', { wait: '1s' }));
      await clock.advance(1_000);
      await expect(third).rejects.toThrow(LockNotAcquiredError);
      await lease.release();
    });
  });

  it('waits no longer than it said, and the next one has the turn', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await besideSibling(async (first) => {
      const short = later(locks.acquire('k', { wait: '1s', signal }));
      const long = locks.acquire('k');
      await clock.advance(999);
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      await clock.advance(1);
      await expect(short).rejects.toMatchObject({ code: 'LOCK_NOT_ACQUIRED', key: 'k' });
      expectUnheard(signal);
      await first.release();
      await (await long).release();
    });
  });

  it('has it while the other goes on, which released early', async () => {
    const [released, end] = [new Gate(), new Gate()];
    await locks.withLock('k', async () => {
      const early = locks.withLock('k', async (lease) => {
        await lease.release();
        released.open();
        await end.opened;
        expect(lease.held).toBe(false);
      });
      await released.opened;
      const second = await locks.acquire('k', { wait: 0 });
      expect(second.held).toBe(true);
      await second.release();
      end.open();
      await early;
    });
  });

  it('has it once, however often the other releases', async () => {
    await besideSibling(async (first) => {
      const second = locks.acquire('k');
      const third = later(locks.acquire('k', { wait: '1s' }));
      await Promise.all([first.release(), first.release(), first.release()]);
      const lease = await second;
      await clock.advance(1_000);
      await expect(third).rejects.toThrow(LockNotAcquiredError);
      await lease.release();
    });
  });

  it('has it after the other failed', async () => {
    await locks.withLock('k', async () => {
      const failing = locks.withLock('k', async () => {
        await clock.advance(10);
        throw REASON;
      });
      const second = locks.withLock('k', async (lease) => lease.held);
      await expect(failing).rejects.toBe(REASON);
      expect(await second).toBe(true);
    });
  });
});

describe('siblings inside a lock that their outer one released early', () => {
  it('acquire it like anybody, one after another, in order with others', async () => {
    let left: Promise<Lease>[] = [];
    let token = 0;
    const outer = besideSibling(async (first, lease) => {
      token = first.fencingToken;
      left = [1, 2, 3].map(() => locks.acquire('k'));
      await settled();
      expect(await lease.release()).toBe(true); // its sibling holds it on
      expect((await rival.inspect('k')).state).toBe('held');
      await first.release();
    });
    await expect(outer).resolves.toBeUndefined();
    for (const sibling of left) {
      await clock.advance(100);
      const lease = await sibling;
      expect(lease.held).toBe(true);
      expect(lease.fencingToken).toBeGreaterThan(token);
      token = lease.fencingToken;
      expect(await rival.tryAcquire('k')).toBeNull();
      await lease.release();
    }
    await settled();
    expect((await rival.inspect('k')).state).toBe('free');
  });

  it('may abort then too', async () => {
    const controller = new AbortController();
    let other: Lease | null = null;
    let gone: Promise<unknown> = Promise.resolve();
    await besideSibling(async (first, lease) => {
      gone = later(locks.acquire('k', { signal: controller.signal }));
      await settled();
      const stranger = rival.acquire('k');
      await clock.advance(10);
      await lease.release();
      await first.release();
      other = await stranger;
    });
    await clock.advance(10);
    expect((await rival.inspect('k')).waiting).toBe(1);
    controller.abort(REASON);
    await expect(gone).rejects.toBe(REASON);
    expectUnheard(controller.signal);
    await clock.advance(10);
    expect((await rival.inspect('k')).waiting).toBe(0);
    await other!.release();
  });
});

describe('a lock that is lost while siblings are inside', () => {
  it('is lost for all of them, and each that waits is told so', async () => {
    let told = 0;
    const outer = besideSibling(async (first) => {
      const waiting = [1, 2, 3].map(() => later(locks.acquire('k')));
      first.signal.addEventListener('abort', () => (told += 1));
      await settled();
      await rival.forceRelease('k');
      await clock.advance(10);
      expect([first.held, told]).toEqual([false, 1]);
      expect(await first.release()).toBe(false);
      for (const each of waiting) {
        await expect(each).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'forced' });
      }
    });
    await expect(outer).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'forced' });
    expect((await rival.inspect('k')).state).toBe('free');
  });

  it('ends the turns of those that wait, however long the one inside goes on', async () => {
    const outer = besideSibling(async (first) => {
      const waiting = later(locks.acquire('k', { wait: 1_000 }));
      await settled();
      await rival.forceRelease('k');
      await clock.advance(1_000);
      await expect(waiting).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'forced' });
      const late = later(locks.acquire('k', { wait: 1_000 }));
      await clock.advance(1_000);
      await expect(late).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'forced' });
      await first.release();
    });
    await expect(outer).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'forced' });
  });

  it('leaves nobody who can extend it, whichever of them asks', async () => {
    const outer = besideSibling(async (first, lease) => {
      await rival.forceRelease('k');
      for (const each of [first, lease]) {
        await expect(each.extend('1m')).rejects.toMatchObject({ code: 'LEASE_LOST' });
        expect(each.held).toBe(false);
      }
      await first.release();
      await (await rival.acquire('k', { wait: 0 })).release();
    });
    await expect(outer).rejects.toMatchObject({ code: 'LEASE_LOST' });
  });
});

describe('a shutdown that takes the lock while siblings are inside', () => {
  it('ends the turns of those that wait, however long the one inside goes on', async () => {
    const outer = besideSibling(async (first) => {
      const waiting = later(locks.acquire('k', { wait: 1_000 }));
      await settled();
      const closed = locks.onApplicationShutdown();
      await clock.advance(1_000);
      await expect(waiting).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'shutdown' });
      const late = later(locks.acquire('k', { wait: 1_000 }));
      await expect(late).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN', key: 'k' });
      await first.release();
      await closed;
    });
    await expect(outer).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'shutdown' });
  });
});

/** All that needs no time to settle has done so. */
function settled(): Promise<void> {
  return clock.advance(0);
}

/** Code inside a lock of which one sibling holds it, and what the body does beside. */
function besideSibling<T>(work: (first: Lease, outer: Lease) => Promise<T>): Promise<T> {
  return locks.withLock('k', async (outer) => work(await locks.acquire('k'), outer));
}

function expectUnheard(signal: AbortSignal): void {
  expect(getEventListeners(signal, 'abort')).toEqual([]);
}
