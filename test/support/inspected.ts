import type { LockService } from '../../lib/index.js';
import { until } from './until.js';

/** Resolves when nobody holds a lock. */
export async function untilFree(locks: LockService, key: string): Promise<void> {
  await until(`${key} is free`, async () => (await locks.inspect(key)).state === 'free');
}

/** Resolves when so many wait for a lock. */
export async function untilWaiting(locks: LockService, key: string, count = 1): Promise<void> {
  await until(`${count} wait for ${key}`, async () => {
    return (await locks.inspect(key)).waiting === count;
  });
}
