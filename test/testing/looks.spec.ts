import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { LockService } from 'nest-redis-lock';
import { ManualClock, memoryLockService } from 'nest-redis-lock/testing';

let clock: ManualClock;
let locks: LockService;
beforeEach(async () => {
  clock = new ManualClock();
  locks = memoryLockService({ clock });
  await locks.onModuleInit();
});
afterEach(() => locks.onApplicationShutdown());

it('inspect and list say whole milliseconds', async () => {
  const exports = locks.semaphore('export', { permits: 1 });
  await exports.acquire();
  await locks.acquire('lock');
  const waiting = [exports.acquire(), locks.acquire('lock')];
  await clock.advance(100.6);
  const found = await locks.list();
  expect(found).toHaveLength(2);
  for (const { remaining, holders = [], waiters } of found) {
    const said = [
      remaining,
      ...holders.map((each) => each.remaining),
      ...waiters.map((w) => w.age),
    ];
    expect(said.length).toBeGreaterThan(1);
    for (const ms of said) expect(Number.isInteger(ms)).toBe(true);
  }
  for (const { key } of found) await locks.forceRelease(key);
  await Promise.all(waiting);
});

it('a semaphore without a free permit says so', async () => {
  const exports = locks.semaphore('exp', { permits: 3 });
  await exports.acquire({ count: 3 });
  await expect(exports.acquire({ wait: 0 })).rejects.toThrow(
    'All 3 permits of "exp" are taken. Set "wait" to queue for it.',
  );
});
