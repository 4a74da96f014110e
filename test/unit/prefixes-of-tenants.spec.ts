import { expect, it } from '@jest/globals';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import { lockFormat, moduleSettings, systemClock } from '../../lib/engine/options/index.js';
import { collectGarbage } from '../support/collect-garbage.js';

it('a prefix of each tenant in the dialect of a call is forgotten in time, also by the store that had its locks', async () => {
  const store = new RedisLockStore(moduleSettings({ redis: 'redis://localhost' }), systemClock);
  const used = Array.from({ length: 5_000 }, (_, tenant) => {
    const dialect = lockFormat({ name: 'plain', prefix: `tenant-${tenant}:` });
    store.inspect('k', 1, dialect).catch(() => {});
    return new WeakRef(dialect);
  });
  await collectGarbage();
  const kept = used.filter((dialect) => dialect.deref() !== undefined);
  expect(kept.length).toBeLessThanOrEqual(1_000);
  await store.close();
});

it('equal dialects that are used again and again are one', () => {
  const dialect = { name: 'spring', registry: 'locks' } as const;
  expect(lockFormat({ ...dialect })).toBe(lockFormat(dialect));
});
