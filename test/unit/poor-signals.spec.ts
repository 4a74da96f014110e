import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getEventListeners, once } from 'node:events';
import type { LockService } from '../../lib/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';

const POOR: [object, string][] = [
  [AbortSignal, 'any'],
  [AbortSignal.prototype, 'throwIfAborted'],
];
const rich = POOR.map(([of, name]) => Object.getOwnPropertyDescriptor(of, name)!);

/** As jsdom's signals are, under which Jest 29 runs tests of browsers. */
beforeAll(() => POOR.forEach(([of, name]) => Reflect.deleteProperty(of, name)));
afterAll(() => POOR.forEach(([of, name], at) => Object.defineProperty(of, name, rich[at]!)));

const CALLS: [string, (locks: LockService, signal: AbortSignal) => Promise<unknown>][] = [
  ['acquire', (locks, signal) => locks.acquire('a', { signal })],
  ['withLock', (locks, signal) => locks.withLock('a', { signal }, () => 1)],
  [
    'a call that waits for one of several keys',
    async (locks, signal) => {
      const held = await locks.acquire('b');
      const all = locks.acquire(['a', 'b'], { signal });
      await held.release();
      await (await all).release();
    },
  ],
  ['semaphore', (locks, signal) => locks.semaphore('s', { permits: 1 }).acquire({ signal })],
  ['campaign', (locks, signal) => locks.election('e').campaign({ signal })],
  [
    'a call that enters the lock again',
    (locks, signal) =>
      locks.withLock('a', { signal }, () => locks.withLock('a', { signal }, () => 1)),
  ],
  [
    'a call beside one that awaits a condition',
    (locks, signal) =>
      locks.withLock('a', async (lease) => {
        const awaited = locks.condition(lease, 'c').await({ wait: 50, signal });
        await Promise.all([awaited, locks.withLock('a', { signal }, () => 1)]);
      }),
  ],
];

it.each(CALLS)('a signal without methods of its own serves %s', async (_, call) => {
  const locks = memoryLockService();
  await call(locks, new AbortController().signal);
  const reason = new Error('enough');
  await expect(call(locks, AbortSignal.abort(reason))).rejects.toBe(reason);
});

it('a lease on several keys has a signal that aborts with the first of theirs', async () => {
  const locks = memoryLockService();
  const { signal } = await locks.acquire(['a', 'b']);
  const heard = once(signal, 'abort');
  await locks.forceRelease('b');
  await heard;
  expect(signal.reason).toMatchObject({ code: 'LEASE_LOST', key: 'b' });
});

it('a released lease on several keys leaves no listener with the code around, which holds one of them', async () => {
  const locks = memoryLockService();
  await locks.withLock('a', async (around) => {
    const lease = await locks.acquire(['a', 'b']);
    expect(lease.signal.aborted).toBe(false);
    expect(getEventListeners(around.signal, 'abort')).toHaveLength(1);
    await lease.release();
    expect(getEventListeners(around.signal, 'abort')).toHaveLength(0);
  });
});
