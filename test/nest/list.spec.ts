import { expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { LockKeyError, LockOptionsError, LockService } from '../../lib/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';
import { untilWaiting } from '../support/inspected.js';
import { useBench } from '../support/nest-app.js';

const bench = useBench();

async function services(): Promise<[string, LockService][]> {
  return [
    ['Redis', (await bench.app({})).get(LockService)],
    ['memory', memoryLockService()],
  ];
}

it('shows each lock as inspect does, with its waiters and their age', async () => {
  for (const [, locks] of await services()) {
    const [b, a] = [await locks.acquire('order:b'), await locks.acquire('order:a')];
    const readers = await locks.acquire('order:c', { mode: 'shared' });
    const waiting = locks.acquire('order:a');
    await untilWaiting(locks, 'order:a');
    const [first, ...rest] = await locks.list('order:*');
    expect(first).toMatchObject({ key: 'order:a', state: 'held', mode: 'exclusive', waiting: 1 });
    expect(first!.waiters).toEqual([
      { host: hostname(), pid: process.pid, age: expect.any(Number) },
    ]);
    expect(rest.map(({ key, mode }) => [key, mode])).toEqual([
      ['order:b', 'exclusive'],
      ['order:c', 'shared'],
    ]);
    expect(await locks.list('*', { limit: 2 })).toHaveLength(2);
    await a.release();
    await Promise.all([b, readers, await waiting].map((lease) => lease.release()));
    expect(await locks.list()).toEqual([]);
    await locks.onApplicationShutdown();
  }
});

it('shows nothing of another prefix, and none of the keys beside a lock', async () => {
  const here = (await bench.app({}, { keyPrefix: '' })).get(LockService);
  const there = (await bench.app({}, { keyPrefix: 'a*' })).get(LockService);
  await here.acquire('ab{tag}');
  await here.acquire('plain');
  expect((await there.list()).map(({ key }) => key)).toEqual([]);
  expect((await here.list()).map(({ key }) => key)).toEqual(['ab{tag}', 'plain']);
});

it('refuses what is no pattern, and no limit', async () => {
  for (const [, locks] of await services()) {
    for (const pattern of ['', 'a'.repeat(600), 7 as never]) {
      await expect(locks.list(pattern)).rejects.toThrow(LockKeyError);
    }
    for (const limit of [0, 1.5, 20_000]) {
      await expect(locks.list('*', { limit })).rejects.toThrow(LockOptionsError);
    }
    await locks.onApplicationShutdown();
  }
});
