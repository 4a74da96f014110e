import { expect, it } from '@jest/globals';
import { Locked, LockOptionsError, type LeaseLostError, LockStoreError } from '../../lib/index.js';
import { ManualClock, memoryLockService, MemoryServer } from '../../lib/memory/testing/index.js';

const server = (): { clock: ManualClock; server: MemoryServer } => {
  const clock = new ManualClock();
  return { clock, server: new MemoryServer(clock) };
};

it('a lease that expired tells why its renewal failed, if one did', async () => {
  const world = server();
  await using locks = memoryLockService(world);
  const lease = await locks.acquire('k', { ttl: '30s' });
  world.server.pause();
  await world.clock.advance(31_000);
  world.server.resume();
  const { reason, cause } = lease.signal.reason as LeaseLostError;
  expect(reason).toBe('expired');
  expect(cause).toBeInstanceOf(LockStoreError);
  expect((cause as Error).message).toContain('did not answer within 2000 ms');
  expect(JSON.stringify(lease.signal.reason)).not.toContain('cause');
});

it('a lease that was renewed since then, and expired by its own time, has no cause', async () => {
  const world = server();
  await using locks = memoryLockService(world);
  const lease = await locks.acquire('k', { ttl: '30s', maxHold: '60s' });
  world.server.pause();
  await world.clock.advance(14_000);
  world.server.resume();
  await world.clock.advance(80_000);
  expect(lease.signal.reason).toMatchObject({ reason: 'expired' });
  expect(lease.signal.reason).not.toHaveProperty('cause');
});

it('an option that is wrong for a decorator has the check that found it as its cause', () => {
  const decorate = (): void => {
    class Accounts {
      @Locked('a', { ttl: -1 })
      async pay(): Promise<void> {}
    }
    void Accounts;
  };
  expect(decorate).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('@Locked on Accounts.pay: '),
      cause: expect.any(LockOptionsError),
    }),
  );
});
