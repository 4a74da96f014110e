import { expect, it } from '@jest/globals';
import { NATIVE } from '../../lib/engine/options/index.js';
import { type Polled, QueuePoller } from '../../lib/engine/client/queue/queue-poller.js';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { AWAITS } from '../../lib/engine/protocol/constants.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

function entry(enqueuedAt: string, ask: () => void = () => {}, name?: string): Polled {
  const condition = name === undefined ? undefined : { name, over: false };
  const request = {
    key: 'k',
    holder: enqueuedAt,
    ttl: 30_000,
    tokenBlock: 0,
    format: NATIVE,
    enqueuedAt,
    condition,
  };
  return { request, rank: name === undefined ? 0 : AWAITS, polled: false, ask };
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

it('the first entry asks for those behind it, and the first that awaits a condition for all that do', async () => {
  const clock = new ManualClock();
  const poller = new QueuePoller(clock, () => {});
  const asked: string[] = [];
  const add = (at: string, name?: string): void =>
    poller.add(
      entry(at, () => asked.push(at), name),
      -1,
    );
  add('1');
  add('2');
  for (const [at, name] of ['one', 'other', 'one', 'other'].entries()) add(String(3 + at), name);
  await clock.advance(60_000);
  expect(asked).toEqual(['1', '3', '4']);
});

it('an outage ends by an answer to the first entry alone: what others ask may need less of the store', () => {
  const poller = new QueuePoller(new ManualClock(), () => {});
  const [first, other] = [entry('1'), entry('2', undefined, 'one')];
  poller.add(first, -1);
  poller.add(other, -1);
  const error = new LockStoreError('away', { key: 'k', outcome: 'unknown', retryable: true });
  expect(poller.failed(first, error)).toEqual([first, other]);
  poller.add(other, -1);
  expect(poller.outage).toMatchObject({ error });
  poller.add(first, -1);
  expect(poller.outage).toBeUndefined();
});

it('where the first goes while its ask is under way, the one behind it asks next', async () => {
  const clock = new ManualClock();
  const poller = new QueuePoller(clock, () => {});
  const asked: string[] = [];
  const [first, second] = ['1', '2'].map((at) => entry(at, () => asked.push(at)));
  poller.add(first!, -1);
  poller.add(second!, -1);
  await clock.advance(60_000);
  poller.remove(first!, true);
  await clock.advance(60_000);
  expect(asked).toEqual(['1', '2']);
});

it('asks when a message says that the lock comes free, if that is earlier than it would ask', async () => {
  const clock = new ManualClock();
  const poller = new QueuePoller(clock, () => {});
  const asked: number[] = [];
  const from = clock.monotonic();
  poller.add(
    entry('1', () => asked.push(clock.monotonic() - from)),
    -1,
  );
  poller.comesFreeIn(100);
  poller.comesFreeIn(60_000);
  await clock.advance(60_000);
  expect(asked).toEqual([101]);
});
