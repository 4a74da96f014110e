import { describe, expect, it } from '@jest/globals';
import { newHolderId } from '../../lib/locks/holder.js';
import type { Claim, LockPrimitive } from '../../lib/locks/lock-primitive.js';
import { RedisLockStore } from '../../lib/locks/lock/redis-lock-store.js';
import {
  dialectSettings,
  moduleSettings,
  READER,
  type RedisLockOptions,
} from '../../lib/options/index.js';
import { ManualClock } from '../../lib/testing/index.js';

const where: Record<string, RedisLockOptions['redis']> = {
  'a Redis': 'redis://localhost:1',
  'a Cluster': { cluster: ['redis://localhost:1'] },
};
const ttl = 1_000;
const tokens = 1;

const steps: Record<string, (lock: LockPrimitive, claim: Claim) => Promise<unknown>> = {
  acquire: (lock, claim) => lock.acquire({ ...claim, queue: true, wanted: () => true }),
  release: (lock, claim) => lock.release(claim, 0),
  leave: (lock, claim) => lock.leave(claim),
  extend: (lock, claim) => lock.extend([claim]),
  inspect: (lock, { key, dialect }) => lock.inspect(key, 1, dialect),
  force: (lock, { key, dialect }) => lock.force(key, dialect),
};
const own: typeof steps = {
  signal: (lock, claim) => lock.signal(claim, 'changed', 1),
  downgrade: (lock, claim) => lock.downgrade(claim),
  transfer: (lock, claim) => lock.transfer(claim, { ...claim, holder: newHolderId('heir') }),
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
    const { lock, processId } = new RedisLockStore(settings, new ManualClock());
    const claim: Claim = {
      key: 'order {7}:queue',
      holder: newHolderId(processId),
      ttl,
      tokens,
      share: row.kind === 'reader' ? READER : undefined,
      dialect:
        row.kind === 'dialect'
          ? dialectSettings({ name: 'plain', prefix: 'secret-prefix:' })
          : undefined,
    };
    const failure = await { ...steps, ...own }[row.step]!(lock, claim).catch(
      (error: Error) => error,
    );
    expect(failure).toMatchObject({ name: 'LockStoreError', outcome: 'unsent', key: claim.key });
    expect((failure as Error).message).toContain(`lock "${claim.key}"`);
    expect((failure as Error).message).not.toContain('secret-prefix');
  });
});
