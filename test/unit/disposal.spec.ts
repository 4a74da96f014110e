import { expect, it } from '@jest/globals';
import { type Election, type Lease, LockService, LockShutdownError } from '../../lib/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';

it('a service is closed at the end of the block that declares it, once its leases are given back', async () => {
  const order: string[] = [];
  let locks: LockService;
  {
    await using declared = memoryLockService();
    locks = declared;
    const lease = await declared.acquire('k');
    void Promise.resolve()
      .then(() => lease.release())
      .then(() => order.push('released'));
  }
  order.push('closed');
  expect(order).toEqual(['released', 'closed']);
  await expect(locks.acquire('k')).rejects.toThrow(LockShutdownError);
  await locks[Symbol.asyncDispose]();
});

it('an election is resigned at the end of the block that declares it', async () => {
  await using locks = memoryLockService();
  let election: Election;
  let lease: Lease;
  {
    await using declared = locks.election('office');
    election = declared;
    lease = await declared.campaign();
    expect(election.leads).toBe(true);
  }
  expect([election.leads, lease.held]).toEqual([false, false]);
  expect(await election.leader()).toBeUndefined();
});
