import { describe, expect, it } from '@jest/globals';
import { LockNotAcquiredError, LockOptionsError, LockStoreError } from '../../lib/index.js';
import { ManualClock, memoryLockService, MemoryServer } from '../../lib/memory/testing/index.js';

describe('a lock of another service, in memory', () => {
  const dialect = 'redisson';

  it('is held by one at a time, and passed on to who waits', async () => {
    const server = new MemoryServer();
    const [us, others] = [memoryLockService({ server }), memoryLockService({ server })];
    const lease = await us.acquire('k', { dialect });
    await expect(others.acquire('k', { dialect, wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    const waiting = others.acquire('k', { dialect });
    await lease.extend();
    expect(await lease.release()).toBe(true);
    const next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(await next.release()).toBe(true);
  });

  it('is another than ours of that name, so that a method may hold both', async () => {
    const locks = memoryLockService();
    await locks.withLock('k', { wait: 0 }, () =>
      locks.withLock('k', { dialect, wait: 0 }, async (inner) => {
        expect(inner.held).toBe(true);
        expect((await locks.list('k*')).map(({ key }) => key)).toEqual(['k']);
      }),
    );
  });

  it('is the same lock, however its Redis key is split into prefix and name', async () => {
    const locks = memoryLockService({ dialect, wait: 0 });
    const split = { dialect: { name: 'redisson', prefix: 'a:' } } as const;
    const lease = await locks.acquire('a:b');
    await expect(locks.acquire('b', split)).rejects.toThrow(LockNotAcquiredError);
    await lease.run(async () => {
      const again = await locks.acquire('b', split);
      expect(again.fencingToken).toBe(lease.fencingToken);
      const other = { dialect: { ...split.dialect, kind: 'readWrite' } } as const;
      await expect(locks.acquire('b', other)).rejects.toThrow(LockNotAcquiredError);
    });
  });

  it('is seen and ended by an operator', async () => {
    const locks = memoryLockService({ dialect });
    const lease = await locks.acquire('k');
    expect(await locks.inspect('k')).toMatchObject({ key: 'k', state: 'held' });
    expect(await locks.forceRelease('k')).toBe(true);
    expect(await locks.inspect('k')).toMatchObject({ state: 'free' });
    expect(await lease.release()).toBe(false);
  });

  it('is called by its name in errors', async () => {
    const clock = new ManualClock();
    const server = new MemoryServer(clock);
    const locks = memoryLockService({ server, dialect, commandTimeout: 100, outageWait: 0 });
    const lease = await locks.acquire('k');
    server.pause();
    const failures = Promise.allSettled([
      locks.acquire('k', { wait: 0 }),
      lease.extend(),
      locks.inspect('k'),
      locks.forceRelease('k'),
    ]);
    await clock.advance(300);
    for (const failure of await failures) {
      const { reason } = failure as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(LockStoreError);
      expect(reason).toMatchObject({ key: 'k', message: expect.stringContaining('"k"') });
    }
  });

  it('refuses what it would refuse on Redis', async () => {
    const locks = memoryLockService({ dialect });
    const lease = await locks.acquire('k');
    await expect(lease.downgrade()).rejects.toThrow('cannot be downgraded');
    await expect(lease.handOver()).rejects.toThrow('cannot be handed over');
    await expect(locks.acquire('k', { mode: 'shared' })).rejects.toThrow(LockOptionsError);
    expect((await locks.list('k*')).map(({ key }) => key)).toEqual(['k']);
    await expect(locks.condition(lease, 'c').signal()).rejects.toThrow('has no conditions');
    expect(lease.held).toBe(true);
  });

  it.each([
    ['replicas', { replicas: { acks: 1 } }],
    ['nodes', { nodes: ['redis://one', 'redis://two', 'redis://three'] }],
  ])('is refused beside "%s", as on Redis', async (option, module) => {
    const locks = memoryLockService(module);
    const message = `Dialect "plain" and option "${option}" exclude each other`;
    for (const key of ['k', ['a', 'b']]) {
      await expect(locks.acquire(key, { dialect: 'plain' })).rejects.toThrow(message);
      await expect(locks.tryAcquire(key, { dialect: 'plain' })).rejects.toThrow(LockOptionsError);
    }
    expect((await locks.acquire('k', { dialect: 'native' })).held).toBe(true);
    expect(() => memoryLockService({ ...module, dialect: 'plain' })).toThrow(message);
  });
});
