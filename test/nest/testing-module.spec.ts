import { expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CurrentLease,
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
} from '../../lib/testing/index.js';

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
