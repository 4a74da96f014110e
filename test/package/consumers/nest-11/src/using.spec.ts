import { memoryLockService } from 'nest-redis-lock/testing';

Object.assign(Symbol, { asyncDispose: Symbol.for('Symbol.asyncDispose') });

it('gives a lease back at the end of a block', async () => {
  const locks = memoryLockService();
  {
    await using lease = await locks.acquire('a');
    expect(lease.held).toBe(true);
  }
  expect(await locks.tryAcquire('a')).not.toBeNull();
});
