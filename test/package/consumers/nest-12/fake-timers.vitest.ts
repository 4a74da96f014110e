import { LockNotAcquiredError } from 'nest-redis-lock';
import { memoryLockService } from 'nest-redis-lock/testing';
import { expect, it, vi } from 'vitest';

it('a lease is renewed, and a call that waits in vain ends, under fake timers', async () => {
  vi.useFakeTimers();
  const locks = memoryLockService();
  const lease = await locks.acquire('account:1', { ttl: '10s' });
  const refused = locks.acquire('account:1', { wait: '1m' });
  refused.catch(() => {});
  await vi.advanceTimersByTimeAsync(60_000);
  await expect(refused).rejects.toThrow(LockNotAcquiredError);
  expect(lease.held).toBe(true);
  vi.useRealTimers();
});
