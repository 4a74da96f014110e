/** @jest-environment jsdom */
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { memoryLockService } from 'nest-redis-lock/testing';
import { Test } from '@nestjs/testing';

async function locksUnderSignal(locks: LockService): Promise<void> {
  const { signal } = new AbortController();
  const lease = await locks.acquire(['account:1', 'account:2'], { signal });
  expect(lease.signal.aborted).toBe(false);
  const second = locks.acquire('account:1', { signal });
  await lease.release();
  expect(await (await second).release()).toBe(true);
}

it('locks in memory under a signal', () => locksUnderSignal(memoryLockService()));

it('locks in Redis under a signal', async () => {
  const imports = [RedisLockModule.forRoot({ redis: process.env.REDIS_URL })];
  const module = await Test.createTestingModule({ imports }).compile();
  await module.init();
  await locksUnderSignal(module.get(LockService));
  await module.close();
});
