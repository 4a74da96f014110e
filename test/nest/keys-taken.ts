import { Redis } from 'ioredis';
import type { LockService } from '../../lib/index.js';

/** The Redis keys that hold a lock named `key` taken by this service, on a server that is emptied for it. */
export async function keysTaken(url: string, locks: LockService, key: string): Promise<string[]> {
  const admin = new Redis(url);
  try {
    await admin.flushall();
    const lease = await locks.acquire(key);
    const keys = await admin.keys('*');
    await lease.release();
    return keys.filter((name) => name.endsWith(key) && !name.startsWith('{'));
  } finally {
    admin.disconnect();
  }
}
