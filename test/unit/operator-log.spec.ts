import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { LockNotAcquiredError } from '../../lib/engine/errors/index.js';
import type { LockService } from '../../lib/index.js';
import { ManualClock, MemoryServer, memoryLockService } from '../../lib/memory/testing/index.js';

const lines: unknown[][] = [];
let clock: ManualClock;
let locks: LockService;
let operator: LockService;
let server: MemoryServer;

beforeEach(() => {
  for (const level of ['log', 'warn'] as const) {
    jest
      .spyOn(Logger.prototype, level)
      .mockImplementation((...line: unknown[]) => void lines.push([level, ...line]));
  }
  clock = new ManualClock();
  server = new MemoryServer(clock);
  locks = memoryLockService({ clock, server });
  operator = memoryLockService({ clock, server });
});
afterEach(() => {
  lines.length = 0;
  jest.restoreAllMocks();
});

it('a lease that is lost is said with its name, how long it was held, and why', async () => {
  await locks.acquire('account:42', { name: 'account', label: 'Accounts.withdraw' });
  await clock.advance(34_200);
  await operator.forceRelease('account:42');
  await clock.advance(10);
  expect(lines).toEqual([
    [
      'warn',
      'The lease on lock "account:42" is over: an operator released it by force. It was held for 34 s (account).',
      {
        event: 'lost',
        name: 'account',
        key: 'account:42',
        label: 'Accounts.withdraw',
        mode: 'exclusive',
        held: 34_200,
        reason: 'forced',
      },
    ],
  ]);
});

it('of many that are lost at once some are said, and then how many more', async () => {
  const keys = Array.from({ length: 40 }, (_, nth) => `k${nth}`);
  await Promise.all(keys.map((key) => locks.acquire(key)));
  await Promise.all(keys.map((key) => operator.forceRelease(key)));
  await clock.advance(9_000);
  expect(lines).toHaveLength(5);
  await clock.advance(1_000);
  expect(lines.at(-1)).toEqual(['warn', '35 more leases were lost within 10 s.']);
  await (await locks.acquire('k0')).release();
  await locks.acquire('k0');
  await operator.forceRelease('k0');
  await clock.advance(1);
  expect(lines).toHaveLength(7);
});

it('a release, a hand-over and a shutdown are no loss', async () => {
  await (await locks.acquire('a')).release();
  const text = await (await locks.acquire('b')).handOver();
  await (await operator.restore(text)).release();
  await locks.acquire('c');
  await locks[Symbol.asyncDispose]();
  expect(lines.map(([, said]) => said)).toEqual([
    'The application shuts down: after 0 ms (option "shutdownGrace") these locks were still held, and were given back: "c".',
  ]);
});

it('a lock that is not had back after a condition is no loss in the log: its caller gets the error', async () => {
  const lease = await locks.acquire('k');
  const awaited = locks.condition(lease, 'ready').await();
  await clock.advance(100);
  server.pause();
  await Promise.all([expect(awaited).rejects.toThrow('did not answer'), clock.advance(60_000)]);
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ reason: 'awaiting' }));
  expect(lines).toEqual([]);
});

it('a wait that is longer than "slowWait" is said at its end, with what it came to', async () => {
  const other = await operator.acquire('k');
  const coming = locks.acquire('k', { slowWait: '1s', wait: '5s', name: 'mine' });
  const late = locks.acquire('k', { slowWait: '1s', wait: '3s' });
  const quick = locks.acquire('k', { wait: '2s' });
  await Promise.allSettled([late, quick, clock.advance(4_000)]);
  await expect(late).rejects.toThrow(LockNotAcquiredError);
  await other.release();
  await (await coming).release();
  expect(lines.map(([level, text]) => [level, text])).toEqual([
    ['warn', 'Lock "k" was not acquired (busy) after 3 s.'],
    ['warn', 'Lock "k" was acquired after 4 s (mine).'],
  ]);
  expect(lines[1]![2]).toMatchObject({ event: 'slowWait', waited: 4_000, outcome: 'acquired' });
});

it('a hold that is longer than "slowHold" is said when it is, and at its end', async () => {
  const lease = await locks.acquire('k', { slowHold: '10s' });
  await clock.advance(9_999);
  expect(lines).toEqual([]);
  await clock.advance(1);
  expect(lines.map(([, said]) => said)).toEqual(['Lock "k" has been held for 10 s, and still is.']);
  await clock.advance(83_000);
  await lease.release();
  expect(lines[1]).toEqual([
    'log',
    'Lock "k" was held for 1 min 33 s.',
    expect.objectContaining({ event: 'slowHold', held: 93_000, end: 'released' }),
  ]);
});

it('a hold that is longer than "slowHold" and then lost is said to have ended so', async () => {
  await locks.acquire('k', { slowHold: '10s' });
  await clock.advance(11_000);
  await operator.forceRelease('k');
  await clock.advance(10);
  expect(lines.map(([level, , fields]) => [level, fields])).toMatchObject([
    ['warn', { event: 'slowHold', held: 10_000, end: undefined }],
    ['log', { event: 'slowHold', held: 11_000, end: 'lost' }],
    ['warn', { event: 'lost', held: 11_000, reason: 'forced' }],
  ]);
});

it('a wait as long as "slowWait" is not longer', async () => {
  const other = await operator.acquire('k');
  const coming = locks.acquire('k', { slowWait: '1s' });
  await clock.advance(1_000);
  await other.release();
  await (await coming).release();
  expect(lines).toEqual([]);
});

it('a hold that ends in time says nothing, and leaves no timer', async () => {
  const pending = clock.pending;
  await (await locks.acquire('k', { slowHold: '10s' })).release();
  await clock.advance(20_000);
  expect([lines, clock.pending]).toEqual([[], pending]);
});

it('a lease that is restored is held too long where the module that restored it says so', async () => {
  const text = await (await locks.acquire('k', { slowHold: '1s', name: 'job' })).handOver();
  const worker = memoryLockService({ clock, server, slowHold: '3s' });
  await worker.restore(text);
  await clock.advance(5_000);
  expect(lines.map(([, said]) => said)).toEqual([
    'Lock "k" has been held for 3 s (job), and still is.',
  ]);
});

it('options of the module stand for all its locks, but not for elections', async () => {
  const server = new MemoryServer(clock);
  const strict = memoryLockService({ clock, server, slowHold: '1s', slowWait: '1s' });
  await strict.election('mail').campaign();
  await strict.acquire('k');
  await clock.advance(5_000);
  expect(lines.map(([, said]) => said)).toEqual(['Lock "k" has been held for 1 s, and still is.']);
});
