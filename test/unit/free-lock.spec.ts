import { expect, it } from '@jest/globals';
import { ContendedKeys } from '../../lib/locks/contended-keys.js';
import { FreeLocks } from '../../lib/locks/lock/free-lock.js';
import type { LockSteps } from '../../lib/locks/lock-steps.js';
import { ManualClock } from '../../lib/testing/index.js';

it('who had to queue hands the lock on in one step, however long it held', async () => {
  const clock = new ManualClock();
  const steps = { contended: new ContendedKeys(), server: { time: clock }, prefix: 'lock:' };
  const free = new FreeLocks(steps as unknown as LockSteps, 'me');
  const request = { key: 'k', holder: 'me/id', ttl: 60_000, tokenBlock: 1 };
  await clock.advance(30_000);
  expect(free.release({ ...request, enqueuedAt: '1' }, 0, undefined)).toBeUndefined();
  expect(free.release(request, 0, undefined)).toBeDefined();
});
