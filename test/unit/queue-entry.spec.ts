import { beforeEach, expect, it } from '@jest/globals';
import type { Cleanup } from '../../lib/engine/client/leases/cleanup.js';
import { QueueEntry } from '../../lib/engine/client/queue/queue-entry.js';
import type { QueuePoller } from '../../lib/engine/client/queue/queue-poller.js';
import { ChurnMap } from '../../lib/engine/client/leases/churn-map.js';
import type { Answer, LockStore } from '../../lib/engine/locks/lock-store.js';
import { moduleSettings, NATIVE } from '../../lib/engine/options/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

const want = {
  key: 'k',
  ttl: 30_000,
  tokenBlock: 0,
  format: NATIVE,
  queue: true,
  label: undefined,
};

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

/** What the entries of a process share, where the store gives this answer. */
function contextOf(answer: Answer) {
  const store = { processId: 'a.1.b', acquire: async () => answer };
  return {
    store: store as unknown as LockStore,
    settings: moduleSettings({ redis: 'redis://a' }),
    clock,
    cleanup: { abandon() {} } as unknown as Cleanup,
    entries: new ChurnMap<QueueEntry>(),
    pollers: new ChurnMap<QueuePoller<QueueEntry>>(),
  };
}

it('an entry whose owner leaves as soon as it is in the queue is not polled', async () => {
  const queued = { enqueuedAt: '1', rank: 0, remaining: 1_000, requeued: false };
  const context = contextOf({ kind: 'queued', ...queued });
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
  new QueueEntry(context, owner, want).ask();
  await clock.advance(0);
  expect([left, clock.pending]).toEqual([1, 0]);
});

it.each(['busy', 'full'] as const)(
  'an entry for which the lock is %s leaves nothing',
  async (kind) => {
    const context = contextOf({ kind });
    const refusals: string[] = [];
    const owner = {
      granted() {},
      queued() {},
      failed() {},
      refused: (_: QueueEntry, why: string) => void refusals.push(why),
    };
    const entry = new QueueEntry(context, owner, want);
    entry.ask();
    await clock.advance(0);
    expect(refusals).toEqual([kind]);
    expect([context.entries.get(entry.request.holder), clock.pending]).toEqual([undefined, 0]);
  },
);
