import { expect, it } from '@jest/globals';
import type { Cleanup } from '../../lib/engine/client/leases/cleanup.js';
import { QueueEntry } from '../../lib/engine/client/queue/queue-entry.js';
import type { QueuePoller } from '../../lib/engine/client/queue/queue-poller.js';
import { ChurnMap } from '../../lib/engine/client/leases/churn-map.js';
import type { LockStore, Queued } from '../../lib/engine/locks/lock-store.js';
import { moduleSettings, NATIVE } from '../../lib/engine/options/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

it('an entry whose owner leaves as soon as it is in the queue is not polled', async () => {
  const clock = new ManualClock();
  const answer: Queued = {
    kind: 'queued',
    enqueuedAt: '1',
    rank: 0,
    remaining: 1_000,
    requeued: false,
  };
  const store = { processId: 'a.1.b', acquire: async () => answer };
  const context = {
    store: store as unknown as LockStore,
    settings: moduleSettings({ redis: 'redis://a' }),
    clock,
    cleanup: { abandon() {} } as unknown as Cleanup,
    entries: new ChurnMap<QueueEntry>(),
    pollers: new ChurnMap<QueuePoller<QueueEntry>>(),
  };
  let left = 0;
  const owner = {
    granted() {},
    refused() {},
    failed() {},
    queued(entry: QueueEntry) {
      left += 1;
      entry.leave();
    },
  };
  new QueueEntry(context, owner, {
    key: 'k',
    ttl: 30_000,
    tokenBlock: 0,
    format: NATIVE,
    queue: true,
    label: undefined,
  }).ask();
  await clock.advance(0);
  expect([left, clock.pending]).toEqual([1, 0]);
});
