import { expect, it } from '@jest/globals';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CurrentLease,
  LeaderOnly,
  type Lease,
  Locked,
  LockNotAcquiredError,
  LockService,
} from '../../lib/index.js';
import {
  LockTestingModule,
  ManualClock,
  memoryLockService,
  MemoryServer,
} from '../../lib/memory/testing/index.js';

@Injectable()
class Reports {
  @Locked('report:<id>', { wait: '5s' })
  async build(
    id: string,
    work: () => Promise<void>,
    @CurrentLease() lease?: Lease,
  ): Promise<number> {
    await work();
    return lease!.fencingToken;
  }
}

async function reports(options: Parameters<typeof LockTestingModule.forRoot>[0]) {
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot(options)],
    providers: [Reports],
  }).compile();
  await module.init();
  return module;
}

it('locks without a Redis, and lets the test move the time', async () => {
  const clock = new ManualClock();
  const module = await reports({ clock });
  let finish!: () => void;
  const first = module.get(Reports).build('1', () => new Promise((resolve) => (finish = resolve)));
  const second = module.get(Reports).build('1', async () => {});
  const [refused] = await Promise.all([
    second.catch((error: unknown) => error),
    clock.advance(5_000),
  ]);
  expect(refused).toBeInstanceOf(LockNotAcquiredError);
  finish();
  expect(await first).toBeGreaterThan(0);
  expect(await module.get(Reports).build('1', async () => {})).toBeGreaterThan(await first);
  await module.close();
});

it.each([
  ['useFactory', { useFactory: () => new Reports() }],
  ['useValue', { useValue: new Reports() }],
])('locks for an object of %s after init(), and says so before', async (_kind, made) => {
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot()],
    providers: [{ provide: Reports, ...made }],
  }).compile();
  const early = module.get(Reports).build('1', async () => {});
  await expect(early).rejects.toThrow('call init() after compile()');
  await module.init();
  expect(await module.get(Reports).build('1', async () => {})).toBeGreaterThan(0);
  await module.close();
});

it('repeats a campaign for the lead when the test lets the time pass', async () => {
  @Injectable()
  class Jobs implements OnModuleInit {
    only!: Lease;

    constructor(readonly locks: LockService) {}

    async onModuleInit(): Promise<void> {
      this.only = await this.locks.acquire('only');
    }

    @LeaderOnly('jobs')
    async work(): Promise<void> {}
  }
  const clock = new ManualClock();
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot({ clock, limits: { leases: 1 } })],
    providers: [Jobs],
  }).compile();
  await module.init();
  await clock.advance(0); // the first campaign fails: one lease is the limit
  const { locks, only } = module.get(Jobs);
  await only.release();
  expect((await locks.inspect('leader:jobs')).state).toBe('free');
  await clock.advance(2_000);
  expect((await locks.inspect('leader:jobs')).state).toBe('held');
  await module.close();
});

it('lets several applications compete on one server', async () => {
  const server = new MemoryServer();
  const [a, b] = [await reports({ server }), await reports({ server })];
  const lease = await a.get(LockService).acquire('report:2');
  expect(await b.get(LockService).tryAcquire('report:2')).toBeNull();
  await lease.release();
  expect(await b.get(Reports).build('2', async () => {})).toBeGreaterThan(lease.fencingToken);
  await Promise.all([a.close(), b.close()]);
});

it('stands in for the LockService of an application', async () => {
  const locks = memoryLockService({ ttl: '1s' });
  expect(await locks.withLock('a', (lease) => lease.key)).toBe('a');
  await locks.onApplicationShutdown();
});
