import { describe, expect, it } from '@jest/globals';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import {
  lockFormat,
  moduleSettings,
  NATIVE,
  READER,
  type RedisLockOptions,
} from '../../lib/engine/options/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { own, steps } from './store-steps.js';

const where: Record<string, RedisLockOptions['redis']> = {
  'a Redis': 'redis://localhost:1',
  'a Cluster': { cluster: ['redis://localhost:1'] },
};
const ttl = 1_000;
const tokenBlock = 1;

const rows = Object.keys(where).flatMap((server) => [
  ...Object.keys({ ...steps, ...own }).map((step) => ({ server, step, kind: 'lock' })),
  ...Object.keys(steps).map((step) => ({ server, step, kind: 'dialect' })),
  ...['acquire', 'release', 'leave', 'extend'].map((step) => ({ server, step, kind: 'reader' })),
]);

describe.each(rows)('$step of a $kind on $server that is not connected', (row) => {
  it('fails with the key of the lock, as its caller gave it', async () => {
    const settings = moduleSettings({ redis: where[row.server]!, keyPrefix: 'secret-prefix:' });
    const lock = new RedisLockStore(settings, new ManualClock());
    const request: LockRequest = {
      key: 'order {7}:queue',
      holder: newHolderId(lock.processId),
      ttl,
      tokenBlock,
      share: row.kind === 'reader' ? READER : undefined,
      format:
        row.kind === 'dialect' ? lockFormat({ name: 'plain', prefix: 'secret-prefix:' }) : NATIVE,
    };
    const failure = await { ...steps, ...own }[row.step]!(lock, request).catch(
      (error: Error) => error,
    );
    expect(failure).toMatchObject({ name: 'LockStoreError', outcome: 'unsent', key: request.key });
    expect((failure as Error).message).toContain(`lock "${request.key}"`);
    expect((failure as Error).message).not.toContain('secret-prefix');
  });
});
