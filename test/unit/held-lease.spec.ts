import { expect, it } from '@jest/globals';
import type { HeldLease } from '../../lib/engine/client/leases/held-lease.js';
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
