import { describe, expect, it } from '@jest/globals';
import type { HeldLease } from '../../lib/engine/client/leases/held-lease.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { ManualClock, MemoryServer, memoryLockService } from '../../lib/memory/testing/index.js';
import { collectGarbage } from '../support/collect-garbage.js';

it('a lease in doubt, because the clock of the machine was set, says so and not that its time ran out', async () => {
  const clock = new ManualClock();
  let step = 0;
  const stepped = {
    monotonic: () => clock.monotonic(),
    wall: () => clock.wall() + step,
    after: (ms: number, task: () => void) => clock.after(ms, task),
  };
  const locks = memoryLockService({
    clock: stepped as ManualClock,
    server: new MemoryServer(clock),
  });
  const lease = await locks.acquire('k');
  step = 3_600_000;
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ reason: 'unconfirmed' }));
  step = 0;
  lease.assertHeld();
  await lease.release();
});

it('a lease that is restored late has its whole ttl again after it awaited a condition', async () => {
  const clock = new ManualClock();
  const locks = memoryLockService({ clock, server: new MemoryServer(clock) });
  const text = await (await locks.acquire('k', { ttl: 3_000, renew: false })).handOver();
  await clock.advance(2_900);
  const lease = await locks.restore(text);
  const awaited = locks.condition(lease, 'work').await({ wait: 1 });
  await clock.advance(5);
  await awaited;
  expect(lease.expiresAt - clock.wall()).toBeGreaterThan(2_000);
  await lease.release();
});

describe('a lease without renewal that was handed over late', () => {
  const ttl = 10_000;

  it.each([ttl - 1_000, 2 * ttl])(
    'has its whole ttl again after it awaited a condition, %d ms after it began',
    async (late) => {
      const { clock, locks, lease } = await restoredAfter(late);
      const awaited = locks.condition(lease, 'work').await({ wait: 1 });
      await clock.advance(5);
      await awaited;
      expect(left(clock, lease)).toBeGreaterThan(0.98 * ttl);
      await lease.release();
    },
  );

  it('has its whole ttl again also where the lock comes from another holder', async () => {
    const { clock, locks, lease } = await restoredAfter(ttl - 1_000);
    const awaited = locks.condition(lease, 'work').await({ wait: 1 });
    const other = await locks.acquire('k');
    await clock.advance(5);
    await other.release(); // the first lease of a pushed grant is shorter
    await awaited;
    await clock.advance(5_000);
    expect(left(clock, lease)).toBeGreaterThan(0.98 * ttl - 5_000);
    await lease.release();
  });

  it('is extended by its whole ttl', async () => {
    const { clock, lease } = await restoredAfter(ttl - 1_000);
    await lease.extend();
    expect(left(clock, lease)).toBeGreaterThan(0.98 * ttl);
    await lease.release();
  });

  it('ends when it would have ended, however often it is handed over', async () => {
    const { clock, locks, lease } = await restoredAfter(ttl - 5_000);
    await clock.advance(2_000);
    const again = await locks.restore(await lease.handOver());
    await clock.advance(2_900);
    expect(again.held).toBe(true);
    await clock.advance(200);
    expect([again.held, await locks.inspect('k')]).toMatchObject([false, { state: 'free' }]);
  });

  /** A lease that is restored `late` ms after it began. It was extended where it lasts no longer. */
  async function restoredAfter(late: number) {
    const clock = new ManualClock();
    const locks = memoryLockService({ clock, server: new MemoryServer(clock) });
    const given = await locks.acquire('k', { ttl, renew: false });
    if (late > ttl) await given.extend('10m');
    await clock.advance(late);
    return { clock, locks, lease: await locks.restore(await given.handOver()) };
  }

  function left(clock: ManualClock, { expiresAt }: Lease): number {
    return expiresAt - clock.wall();
  }
});

it('a holder that awaits conditions again and again keeps none of its former turns', async () => {
  const clock = new ManualClock();
  const locks = memoryLockService({ clock, server: new MemoryServer(clock) });
  const turns: WeakRef<HeldLease>[] = [];
  await locks.withLock('k', async (lease) => {
    const condition = locks.condition(lease, 'work');
    for (let turn = 0; turn < 50; turn += 1) {
      turns.push(new WeakRef(SingleLease.heldLeaseOf(lease as SingleLease)));
      const awaited = condition.await({ wait: 1 });
      await clock.advance(5);
      await awaited;
    }
    await collectGarbage();
    expect(turns.filter((turn) => turn.deref() !== undefined).length).toBeLessThan(5);
    expect(await locks.tryAcquire('k')).not.toBeNull(); // the code around it holds the present one
  });
});
