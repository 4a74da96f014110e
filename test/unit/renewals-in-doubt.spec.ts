import { beforeEach, afterEach, expect, it } from '@jest/globals';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import type {
  Extended,
  Extension,
  LockStore,
  PushListener,
} from '../../lib/engine/locks/lock-store.js';
import type { LockEventMap } from '../../lib/engine/events/index.js';
import { lockChannels } from '../../lib/engine/events/lock-channels.js';
import { kinds } from '../support/kinds.js';
import { later } from '../support/later.js';
import { MemoryWorld } from '../support/memory-world.js';
import { type LockingProcess, withSteps } from '../support/world.js';

const TTL = 3_000;
/** How much later than planned a renewal may be due, in ms, so that many share a timer. */
const GRAIN = 5;

let world: MemoryWorld;
let process: LockingProcess;
/** The keys of each renewal that was asked for, and when, in ms of the world's clock. */
let asked: { keys: string; at: number }[];
let pushes: PushListener;
/** What becomes of what the store answers for a lock. */
let said: (key: string, left: Extended) => Extended;
/** The renewals that are said to have failed, with the time left of the lease. */
let failed: { key: string; left: number; at: number }[];

beforeEach(async () => {
  asked = [];
  failed = [];
  lockChannels.renewalFailed.subscribe(note);
  said = (_key, left) => left;
  world = new MemoryWorld(kinds['lock']!);
  process = await world.process({}, observed);
});
afterEach(async () => {
  lockChannels.renewalFailed.unsubscribe(note);
  await world.close();
});

it('an end for which nobody asked is not believed, though the server names it twice before it is told', async () => {
  const [lease] = await acquire('a');
  const { request } = SingleLease.heldLeaseOf(lease as SingleLease);
  await process.store.extend([{ ...request, ttl: 600_000 }]); // as if its clock had been set back
  let answers = 0;
  said = (_key, left) => {
    answers += 1;
    if (answers > 2) throw new LockStoreError('no answer', { outcome: 'unknown' });
    return left;
  };
  pushes.forced(request.holder);
  await expect(later(lease!.extend())).rejects.toThrow(LockStoreError);
  await world.elapse(TTL);
  expect(lease!.held).toBe(false);
});

it('one lease of several whose answer is not known is renewed again soon, and the others at their time', async () => {
  const leases = await acquire('abc');
  said = (key, left) => (key === 'b' ? 'unknown' : left);
  process.clock.stall(TTL / 3); // then all are due at once
  await world.elapse(TTL / 2);
  const [first, second] = asked;
  expect(first).toMatchObject({ keys: 'abc' });
  expect(second).toMatchObject({ keys: 'b' });
  expect(second!.at - first!.at).toBeLessThanOrEqual((TTL - TTL / 3) / 5 + GRAIN);
  said = (_key, left) => left;
  await world.elapse(5 * TTL);
  expect(leases.map(({ held }) => held)).toEqual([true, true, true]);
  expect(new Set(failed.map(({ key }) => key))).toEqual(new Set(['b']));
});

it.each([TTL, 30_000])(
  'a renewal of %d ms that nobody answers is repeated after a fifth of the time left, from 10 ms to a second',
  async (ttl) => {
    const [lease] = await acquire('a', ttl);
    said = () => {
      throw new LockStoreError('no answer', { outcome: 'unknown' });
    };
    await world.elapse(ttl);
    expect(lease!.held).toBe(false);
    expect(failed.length).toBeGreaterThan(10);
    failed.slice(1).forEach(({ at }, nth) => {
      const { left, at: before } = failed[nth]!;
      const late = at - before - Math.min(1_000, Math.max(10, left / 5));
      expect(Math.abs(late - GRAIN / 2)).toBeLessThanOrEqual(GRAIN / 2);
    });
  },
);

it('a renewal that fails once costs a lease nothing, and is told of with its cause', async () => {
  const [lease] = await acquire('a');
  const failure = new LockStoreError('no answer', { outcome: 'unknown' });
  said = () => {
    said = (_key, left) => left;
    throw failure;
  };
  await world.elapse(10 * TTL);
  expect(failed).toMatchObject([{ key: 'a' }]);
  expect(lease!.held).toBe(true);
});

it('a renewal that fails before a call for several locks holds them all is not told of', async () => {
  const [other] = await acquire('b');
  const call = later(process.acquire({ key: ['a', 'b'], wait: Infinity }));
  said = (key, left) => (key === 'a' ? 'unknown' : left);
  await world.elapse(15_000); // a third of its ttl is over
  expect(asked.some(({ keys }) => keys.includes('a'))).toBe(true);
  expect(failed).toEqual([]);
  await other!.release();
  const lease = await world.finish(call);
  await world.elapse(15_000);
  expect(failed[0]).toMatchObject({ key: 'a' });
  await lease.release();
});

it('who gives its lease back when it hears that the renewal failed has no timer for it any more', async () => {
  const [lease] = await acquire('a');
  let released: Promise<boolean> | undefined;
  const giveBack = (): void => void (released = lease!.release());
  lockChannels.renewalFailed.subscribe(giveBack);
  said = () => 'unknown';
  await world.elapse(TTL / 3);
  lockChannels.renewalFailed.unsubscribe(giveBack);
  expect(await released).toBe(true);
  expect(process.locks.load).toMatchObject({ held: 0, watched: 0 });
});

it('a lease whose longest hold is over is not asked for any more, and lasts as long as it was renewed', async () => {
  const start = world.clock.monotonic();
  const maxHold = 5_000;
  const lease = await process.acquire({ key: 'a', ttl: TTL, maxHold });
  await world.elapse(maxHold);
  const renewals = asked.length;
  expect(renewals).toBeGreaterThanOrEqual(4);
  await world.elapse(maxHold);
  expect(asked).toHaveLength(renewals);
  expect(lease.held).toBe(false);
  expect(asked.at(-1)!.at - start).toBeLessThan(maxHold);
});

function acquire(keys: string, ttl = TTL): Promise<BaseLease[]> {
  return Promise.all(keys.split('').map((key) => process.acquire({ key, ttl })));
}

function note(event: unknown): void {
  const { key, left } = event as LockEventMap['renewalFailed'][0];
  failed.push({ key, left, at: world.clock.monotonic() });
}

/** The store, which notes each renewal, and says what a test wants of it. */
function observed(store: LockStore): LockStore {
  return withSteps(store, {
    open(listener) {
      pushes = listener;
      return store.open(listener);
    },
    async extend(requests: readonly LockRequest[]): Promise<Extension> {
      const keys = requests.map(({ key }) => key).sort();
      asked.push({ keys: keys.join(''), at: world.clock.monotonic() });
      const { sent, remaining } = await store.extend(requests);
      return { sent, remaining: remaining.map((left, at) => said(requests[at]!.key, left)) };
    },
  });
}
