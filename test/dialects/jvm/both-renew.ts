import { expect } from '@jest/globals';
import { LockNotAcquiredError } from '../../../lib/index.js';
import { until } from '../../support/until.js';
import type { DrivenPeer } from '../peers/driven-peer.js';
import type { Sides } from '../sides.js';

/** Their lock lives by their renewal and ours by ours, for three leases of `ttl` ms; nobody else comes in meanwhile. */
export async function bothRenew(sides: Sides, peer: DrivenPeer, ttl: number): Promise<void> {
  const us = sides.client({ dialect: peer.dialect, ttl });
  const [them, others] = await Promise.all([sides.peer(peer), sides.peer(peer)]);
  expect(await them.keep('theirs', ttl)).toBe(true);
  const lease = await us.acquire('ours');
  const over = performance.now() + 3 * ttl;
  await until('three leases are over', async () => {
    await expect(us.acquire('theirs', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await others.acquire('ours', 1_000)).toBe(false);
    return performance.now() > over;
  });
  expect(lease.held).toBe(true);
  expect(await them.release('theirs')).toBe(true);
  expect((await us.acquire('theirs', { wait: 0 })).held).toBe(true);
}
