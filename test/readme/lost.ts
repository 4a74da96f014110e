import type { LockService } from 'nest-redis-lock';

// #region lost
export async function exportAll(
  locks: LockService,
  pages: number,
  write: (page: number) => Promise<void>,
) {
  await locks.withLock('export', { ttl: '10s' }, async (lease) => {
    for (let page = 0; page < pages; page += 1) {
      lease.assertHeld(); // throws LeaseLostError: compares clocks now, whatever timers do
      await write(page); // hand lease.signal to fetch(), a query, a child process
    }
  });
}
// #endregion
