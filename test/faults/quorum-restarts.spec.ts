import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { AcquireOptions } from '../../lib/engine/options/index.js';
import { controlOf } from '../support/control.js';
import { Quorum } from '../support/quorum.js';
import { until } from '../support/until.js';
import type { LockingProcess } from '../support/world.js';

/** In ms; renewed each second. */
const TTL = 3_000;

let quorum: Quorum;
let controls: Redis[];
beforeEach(async () => {
  quorum = await Quorum.of(3);
  controls = quorum.urls.map(controlOf);
});
afterEach(async () => {
  for (const control of controls) control.disconnect();
  await quorum.stop();
});

it.each(['warn', 'refuse'] as const)(
  'a lease outlives a rolling restart of servers that keep nothing (durability: %s)',
  async (durability) => {
    const options = { durability, ttl: durability === 'refuse' ? TTL : 30_000 };
    const [a, b] = [await quorum.process(options), await quorum.process(options)];
    const lease = await acquired(a, { ttl: TTL });
    const { fencingToken } = lease;
    for (const at of [0, 1, 2]) {
      await restart(at);
      await until('the server votes for the holder again', async () =>
        Boolean((await voteOf(at))?.startsWith(a.store.processId)),
      );
      await expect(b.acquire({ wait: 0 })).rejects.toThrow(/lock "k"/i);
    }
    expect([lease.held, lease.signal.aborted]).toEqual([true, false]);
    expect(await lease.release()).toBe(true);
    const next = await acquired(b, {});
    expect(next.fencingToken).toBeGreaterThan(fencingToken);
    await next.release();
  },
);

it('a vote that a restarted server gave to another is left to it', async () => {
  const a = await quorum.process();
  const lease = await acquired(a, { ttl: TTL });
  await controls[2]!.flushall();
  await controls[2]!.set('lock:k', 'another/1', 'PX', 60_000);
  for (let round = 0; round < 3; round += 1) await lease.extend();
  expect(await voteOf(2)).toBe('another/1');
  expect(lease.held).toBe(true);
});

it('where a majority forgot the lock it is lost, and nobody votes for it again', async () => {
  const a = await quorum.process();
  const lease = await acquired(a, { ttl: TTL });
  await Promise.all([controls[1]!.flushall(), controls[2]!.flushall()]);
  await until('the loss is told', () => lease.signal.aborted);
  expect(lease.signal.reason).toMatchObject({ reason: 'gone' });
  await until('it is left everywhere', async () => (await voteOf(0)) === null);
  expect([await voteOf(1), await voteOf(2)]).toEqual([null, null]);
});

it('a lease that is given back while it is renewed gets no vote after that', async () => {
  const a = await quorum.process();
  const lease = await acquired(a, { ttl: 60_000, renew: false });
  await controls[2]!.flushall();
  quorum.freeze(2); // answers the extension when the lease has been given back
  await lease.extend();
  expect(await lease.release()).toBe(true);
  quorum.thaw();
  await new Promise((resolve) => setTimeout(resolve, 200)); // a vote would come now
  expect(await voteOf(2)).toBeNull();
});

it('tokens grow over restarts of servers that keep nothing, also after a client whose clock is ahead', async () => {
  const [ahead, next] = [await quorum.process(), await quorum.process()];
  ahead.clock.sleep(60_000);
  const first = await acquired(ahead, {});
  await first.release();
  for (const at of [0, 1, 2]) await restart(at);
  const later = await acquired(next, {});
  expect(later.fencingToken).toBeGreaterThan(first.fencingToken);
  await later.release();
});

/** Whose vote a server has; null if nobody's. */
function voteOf(at: number): Promise<string | null> {
  return controls[at]!.get('lock:k').catch(() => null);
}

/** A lease for which all three vote: the last of them may do so after it is held. */
async function acquired(process: LockingProcess, options: AcquireOptions): Promise<Lease> {
  const lease = await until('the servers are past the grace period', () =>
    process.acquire({ wait: 0, ...options }).catch(() => undefined),
  );
  for (const at of [0, 1, 2]) {
    await until('all vote for it', async () => (await voteOf(at)) !== null);
  }
  return lease;
}

async function restart(at: number): Promise<void> {
  await quorum.servers[at]!.kill();
  await quorum.servers[at]!.run();
}
