import { expect, it } from '@jest/globals';
import { LeaseLostError, LockNotAcquiredError } from '../../../lib/index.js';
import { PATIENCE } from '../../support/bounds.js';
import { until } from '../../support/until.js';
import { describeEach } from '../both-ways.js';
import type { DrivenClient, DrivenPeer } from '../peers/driven-peer.js';
import { RELEASES, shedLock, spring } from '../peers/jvm.js';
import { Sides } from '../sides.js';
import { bothRenew } from './both-renew.js';

/** A lease that both sides renew, in ms. */
const LEASE = 3_000;

const sides = new Sides();
const connect = (peer: DrivenPeer): Promise<DrivenClient> => sides.peer(peer);

/** How many of them listen on the channel of a registry, or by the pattern of those of its locks. */
async function listening(): Promise<number> {
  const channel = await sides.listeners('app:locks-channel');
  return channel + ((await sides.theirs.pubsub('NUMPAT')) as unknown as number);
}

const registries = RELEASES.map((release) => spring('PUB_SUB_LOCK', release));
const jobs = RELEASES.map((release) => shedLock('safe', release));
const unsafe = RELEASES.map((release) => shedLock('unsafe', release));

describeEach(registries, (peer) => {
  const { dialect } = peer;

  it.each([['we give it back'], ['an operator takes it from us']])(
    'whose waiter sleeps has the lock as soon as %s',
    async (how) => {
      const [us, them] = [sides.client({ dialect }), await connect(peer)];
      const lease = await us.acquire('k', { ttl: 300_000 });
      const asked = await sides.calls('get');
      const waits = them.wait('k');
      await until('they listen', async () => (await listening()) === 1);
      await until('they asked once more', async () => (await sides.calls('get')) >= asked + 2);
      const told = performance.now();
      if (how === 'we give it back') await lease.release();
      else await us.force('k');
      expect(await waits).toBe(true);
      expect(performance.now() - told).toBeLessThan(PATIENCE); // it would ask by itself after 60 s
    },
  );

  it('keeps its lock by its own renewal while we keep another by ours, for three leases', () =>
    bothRenew(sides, peer, LEASE));

  it('that renews a lock keeps us out for as long again', async () => {
    const [us, them] = [sides.client({ dialect }), await connect(peer)];
    expect(await them.acquire('k', 60_000)).toBe(true);
    await sides.theirs.pexpire('app:locks:k', 20_000);
    await them.renew('k', 60_000);
    expect(await sides.theirs.pttl('app:locks:k')).toBeGreaterThan(20_000);
    await expect(us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });
});

describeEach(jobs, (peer) => {
  const { dialect } = peer;

  it('that extends its lock keeps us out for as long as it says', async () => {
    const [us, them] = [sides.client({ dialect }), await connect(peer)];
    expect(await them.acquire('k', 20_000)).toBe(true);
    expect(await them.renew('k', 60_000)).toBe(true);
    expect(await sides.theirs.pttl('job-lock:default:k')).toBeGreaterThan(20_000);
    await expect(us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await them.release('k')).toBe(true);
    expect((await us.acquire('k', { wait: 0 })).held).toBe(true);
  });

  it('is kept out for our minHold', async () => {
    const [us, them] = [sides.client({ dialect }), await connect(peer)];
    const lease = await us.acquire('k', { minHold: 60_000 });
    await lease.release();
    expect(await them.acquire('k', 1_000)).toBe(false);
  });
});

describeEach(unsafe, (peer) => {
  const { dialect } = peer;

  it('whose job overran deletes what is ours: the next has a higher token, and our renewal tells us', async () => {
    const [us, next] = [sides.client({ dialect }), sides.client({ dialect })];
    const them = await connect(peer);
    await until('they have it', () => them.acquire('k', 1_000));
    const lease = await us.acquire('k', { ttl: 60_000 });
    await them.release('k');
    const other = await next.acquire('k', { wait: 0 });
    expect(other.toJSON().fencingToken).toBeGreaterThan(lease.toJSON().fencingToken!);
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
    expect(lease.held).toBe(false);
  });
});
