import { Test } from '@nestjs/testing';
import { LockNotAcquiredError, LockService } from 'nest-redis-lock';
import { LockTestingModule, memoryLockService } from 'nest-redis-lock/testing';

// The realm of a test in Jest 29 has no Symbol.dispose on Node 20 and 22.
describe('without Redis', () => {
  it('refuses whoever comes second', async () => {
    const imports = [LockTestingModule.forRoot()];
    const module = await Test.createTestingModule({ imports }).compile();
    const locks = module.get(LockService);
    await locks.acquire('account:1');
    expect(await locks.tryAcquire('account:1')).toBeNull();
    await module.close();
  });

  it('waits under a signal', async () => {
    const imports = [LockTestingModule.forRoot()];
    const module = await Test.createTestingModule({ imports }).compile();
    const locks = module.get(LockService);
    const lease = await locks.acquire('account:1');
    const { signal } = new AbortController();
    const second = locks.acquire('account:1', { signal });
    await lease.release();
    expect(await (await second).release()).toBe(true);
    expect(Object.getOwnPropertyNames(LockService.prototype)).not.toContain('undefined');
    await module.close();
  });

  it('renews a lease, and ends a call that waits in vain, under fake timers', async () => {
    jest.useFakeTimers();
    const locks = memoryLockService();
    const lease = await locks.acquire('account:1', { ttl: '10s' });
    const refused = locks.acquire('account:1', { wait: '1m' });
    refused.catch(() => {});
    await jest.advanceTimersByTimeAsync(60_000);
    await expect(refused).rejects.toThrow(LockNotAcquiredError);
    expect(lease.held).toBe(true);
    jest.useRealTimers();
  });
});
