import { beforeEach, describe, expect, it } from '@jest/globals';
import { LeaseLostError, LockNotAcquiredError } from '../../lib/index.js';
import type { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { ShedLock } from './peers/shedlock.js';
import { Sides } from './sides.js';

const sides = new Sides();
const key = 'job-lock:default:k';

async function gone(): Promise<void> {
  await until('it is over', async () => (await sides.theirs.exists(key)) === 0);
}

describe.each([
  ['safeUpdate', true],
  ['no safeUpdate', false],
] as const)('ShedLock with %s', (_how, safe) => {
  let jobs: ShedLock;
  beforeEach(() => {
    sides.start('shedlock');
    jobs = new ShedLock(sides.theirs, safe);
  });

  it('keeps us out for its lockAtLeastFor, and no longer', async () => {
    const from = Date.now();
    await jobs.lock({ name: 'k', atMost: 60_000, atLeast: 2_000 });
    await jobs.unlock('k');
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    const lease = await sides.us.acquire('k');
    expect(Date.now() - from).toBeGreaterThan(1_900);
    expect(lease.held).toBe(true);
  });

  it('is kept out for our minHold, and no longer', async () => {
    const lease = await sides.us.acquire('k', { ttl: 60_000, minHold: 30_000 });
    await lease.release();
    expect(await jobs.lock({ name: 'k', atMost: 5_000 })).toBe(false);
    const left = await sides.theirs.pttl(key);
    expect(left).toBeGreaterThan(10_000);
    expect(left).toBeLessThanOrEqual(30_000);
  });

  it('that extends its lock keeps us out as long as it says', async () => {
    await jobs.lock({ name: 'k', atMost: 5_000 });
    expect(await jobs.extend({ name: 'k', atMost: 60_000 })).toBe(true);
    expect(await sides.theirs.pttl(key)).toBeGreaterThan(50_000);
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });

  it('in another environment has other locks', async () => {
    const others = new ShedLock(sides.theirs, safe, 'other');
    await sides.us.acquire('k');
    expect(await others.lock({ name: 'k', atMost: 5_000 })).toBe(true);
  });
});

describe('a job of ShedLock that overran its lockAtMostFor while we took the lock', () => {
  let others: LockProcess;
  beforeEach(() => {
    sides.start('shedlock');
    others = sides.client({ dialect: 'shedlock' });
  });

  async function overran(safe: boolean, atLeast = 0): Promise<ShedLock> {
    const jobs = new ShedLock(sides.theirs, safe);
    await jobs.lock({ name: 'k', atMost: 30, atLeast });
    await gone();
    return jobs;
  }

  it('leaves it ours with safeUpdate', async () => {
    const jobs = await overran(true);
    const lease = await sides.us.acquire('k');
    expect(await jobs.unlock('k')).toBe(false);
    await lease.extend();
    expect(lease.held).toBe(true);
  });

  it('deletes it without: others get it with a higher token, and our next renewal tells us', async () => {
    const jobs = await overran(false);
    const lease = await sides.us.acquire('k', { ttl: 60_000 });
    expect(await jobs.unlock('k')).toBe(true);
    const next = await others.acquire('k', { wait: 0 });
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
    expect(lease.held).toBe(false);
    await next.extend();
  });

  it('overwrites it without, if it has a lockAtLeastFor: our next renewal tells us', async () => {
    const jobs = await overran(false, 60_000);
    const lease = await sides.us.acquire('k', { ttl: 60_000 });
    expect(await jobs.unlock('k')).toBe(true);
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
    expect(await lease.release()).toBe(false);
    await expect(others.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });
});
