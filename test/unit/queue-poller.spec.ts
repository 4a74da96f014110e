import { expect, it } from '@jest/globals';
import { type Polled, QueuePoller } from '../../lib/client/queue-poller.js';
import { ManualClock } from '../../lib/testing/index.js';

function entry(enqueuedAt: string, ask: () => void = () => {}): Polled {
  const request = { key: 'k', holder: enqueuedAt, ttl: 30_000, tokenBlock: 0, enqueuedAt };
  return { request, rank: 0, polled: false, ask };
}

it('an entry that was never added is not removed: the one that is there is polled on', async () => {
  const clock = new ManualClock();
  let asked = 0;
  let emptied = 0;
  const poller = new QueuePoller(clock, () => (emptied += 1));
  const first = entry('1', () => (asked += 1));
  poller.add(first, -1);
  poller.remove(entry('2'), false);
  expect(emptied).toBe(0);
  await clock.advance(60_000);
  expect(asked).toBe(1);
  poller.remove(first, false);
  expect([emptied, clock.pending]).toEqual([1, 0]);
});
