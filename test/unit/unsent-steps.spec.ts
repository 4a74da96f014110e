import { describe, expect, it } from '@jest/globals';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
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

const where: Record<string, RedisLockOptions['redis']> = {
  'a Redis': 'redis://localhost:1',
  'a Cluster': { cluster: ['redis://localhost:1'] },
};
const ttl = 1_000;
const tokenBlock = 1;

const steps: Record<string, (lock: LockStore, request: LockRequest) => Promise<unknown>> = {
  acquire: (lock, request) => lock.acquire({ ...request, queue: true, wanted: () => true }),
  release: (lock, request) => lock.release(request, 0),
  leave: (lock, request) => lock.leave(request),
  extend: (lock, request) => lock.extend([request]),
  inspect: (lock, { key, format }) => lock.inspect(key, 1, format),
  force: (lock, { key, format }) => lock.force(key, format),
};
const own: typeof steps = {
  signal: (lock, request) => lock.signal(request, 'changed', 1),
  downgrade: (lock, request) => lock.downgrade(request),
  transfer: (lock, request) =>
    lock.transfer(request, { ...request, holder: newHolderId('successor') }),
  stamp: (lock, { key }) => lock.stamp(key),
};

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
