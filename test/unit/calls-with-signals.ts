import type { LockService } from '../../lib/index.js';

/** Calls that take a signal, each by what it is. */
export const CALLS: [string, (locks: LockService, signal: AbortSignal) => Promise<unknown>][] = [
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
