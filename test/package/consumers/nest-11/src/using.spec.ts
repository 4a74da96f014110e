import { memoryLockService } from 'nest-redis-lock/testing';

// The realm of a test in Jest 29 has it from Node 24 on, and there it cannot be assigned.
(Symbol as { asyncDispose?: symbol }).asyncDispose ??= Symbol.for('Symbol.asyncDispose');

it('gives a lease back at the end of a block', async () => {
  const locks = memoryLockService();
  {
    await using lease = await locks.acquire('a');
    expect(lease.held).toBe(true);
  }
  expect(await locks.tryAcquire('a')).not.toBeNull();
});
