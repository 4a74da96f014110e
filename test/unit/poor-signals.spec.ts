import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getEventListeners, once } from 'node:events';
import { memoryLockService } from '../../lib/memory/testing/index.js';
import { CALLS } from './calls-with-signals.js';

const POOR: [object, string][] = [
  [AbortSignal, 'any'],
  [AbortSignal.prototype, 'throwIfAborted'],
];
const rich = POOR.map(([of, name]) => Object.getOwnPropertyDescriptor(of, name)!);

/** As jsdom's signals are, under which Jest 29 runs tests of browsers. */
beforeAll(() => POOR.forEach(([of, name]) => Reflect.deleteProperty(of, name)));
afterAll(() => POOR.forEach(([of, name], at) => Object.defineProperty(of, name, rich[at]!)));

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
