import { describe, expect, it } from '@jest/globals';
import { Lease } from '../../lib/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';

describe('`instanceof Lease`', () => {
  it('is true of every lease that the service grants, also when it is over', async () => {
    const locks = memoryLockService();
    const text = await (await locks.acquire('handed')).handOver();
    const leases = [
      await locks.acquire('a'),
      await locks.acquire(['b', 'c']),
      await locks.acquire('d', { mode: 'shared' }),
      await locks.semaphore('seats', { permits: 2 }).acquire(),
      await locks.election('one').campaign(),
      await locks.restore(text),
    ];
    for (const lease of leases) {
      expect(lease instanceof Lease).toBe(true);
      await lease.release();
      expect(lease instanceof Lease).toBe(true);
    }
  });

  it('is false of all else, what a test wrote in its place too', () => {
    const standIn = { keys: ['a'], key: 'a', held: true, release: async () => true };
    for (const value of [standIn, {}, () => {}, 'a', 1, null, undefined]) {
      expect((value as unknown) instanceof Lease).toBe(false);
    }
  });
});
