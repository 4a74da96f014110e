import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { setImmediate } from 'node:timers';
import { Injectable, Module } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { Locked, LockNotAcquiredError, LockService, RedisLockModule } from 'nest-redis-lock';
import { LockTestingModule, memoryLockService, MemoryServer } from 'nest-redis-lock/testing';

/** Where nobody listens. */
const locks = RedisLockModule.forRoot({ redis: 'redis://127.0.0.1:1', connectTimeout: '100ms' });

@Injectable()
class ReportsService {
  constructor(private readonly service: LockService) {}

  @Locked('report', { wait: '5s' })
  async create(): Promise<string> {
    return this.service.current()!.key;
  }
}

@Module({ imports: [locks], providers: [ReportsService] })
class AppModule {}

/** Lets all that takes no time happen: `setImmediate` of this module is never faked. */
async function turns(): Promise<void> {
  for (let nth = 0; nth < 10; nth += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('under fake timers, as Testing says,', () => {
  afterEach(() => void jest.useRealTimers());

  it('a call that waits in vain ends, and a lease is renewed, in the async form', async () => {
    jest.useFakeTimers();
    const service = memoryLockService();
    const lease = await service.acquire('a', { ttl: '10s' });
    const refused = service.acquire('a', { wait: '1m' }).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await refused).toBeInstanceOf(LockNotAcquiredError);
    expect(lease.held).toBe(true);
  });

  it('what one replica gives back or takes reaches another, though no time passes', async () => {
    jest.useFakeTimers();
    const server = new MemoryServer();
    const [one, other] = [memoryLockService({ server }), memoryLockService({ server })];
    const first = await one.acquire('a');
    const waiting = other.acquire('a');
    await turns();
    await first.release();
    const lease = await waiting;
    await one.forceRelease('a');
    await turns();
    expect(lease.signal.aborted).toBe(true);
  });

  it('no renewal is answered in the synchronous form', async () => {
    jest.useFakeTimers();
    const lease = await memoryLockService().acquire('a', { ttl: '10s' });
    jest.advanceTimersByTime(60_000);
    expect(lease.held).toBe(false);
  });
});

describe('in an application without Redis, as Testing says,', () => {
  async function answerOf(builder: TestingModuleBuilder): Promise<string> {
    const module = await builder.compile();
    try {
      await module.init();
      return await module.get(ReportsService).create();
    } finally {
      await module.close();
    }
  }
  const builder = (): TestingModuleBuilder => Test.createTestingModule({ imports: [AppModule] });

  it('overrideProvider puts memory in the place of Redis', async () => {
    const service = memoryLockService();
    expect(await answerOf(builder().overrideProvider(LockService).useValue(service))).toBe(
      'report',
    );
  });

  it('overrideModule does so for the object that forRoot returned, and not for the class', async () => {
    const memory = LockTestingModule.forRoot();
    expect(await answerOf(builder().overrideModule(locks).useModule(memory))).toBe('report');
    const ofClass = builder().overrideModule(RedisLockModule).useModule(memory);
    await expect(answerOf(ofClass)).rejects.toThrow('could not be used within 100 ms');
  });

  it('a stub serves a class that injects the service, and no decorator', async () => {
    const stub = { current: () => ({ key: 'stub' }) };
    const module = await Test.createTestingModule({
      providers: [ReportsService, { provide: LockService, useValue: stub }],
    }).compile();
    await expect(module.get(ReportsService).create()).rejects.toThrow('stand-in');
    jest.spyOn(module.get(ReportsService), 'create').mockResolvedValue('mocked');
    expect(await module.get(ReportsService).create()).toBe('mocked');
  });
});
