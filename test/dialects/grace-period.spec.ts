import { describe, expect, it } from '@jest/globals';
import { LockNotAcquiredError, LockOptionsError } from '../../lib/index.js';
import { until } from '../support/until.js';
import { Sides } from './sides.js';

const sides = new Sides();

describe("a dialect where durability is 'refuse'", () => {
  const ttl = 1_500;

  it('has no lock granted while a server may have forgotten what is held, and none for longer', async () => {
    const from = performance.now();
    const commandTimeout = '1m'; // of the call, which has no place in a queue: the grace period begins at the server's first answer
    const us = sides.client({ dialect: 'plain', durability: 'refuse', ttl, commandTimeout });
    const lease = await us.acquire('k');
    expect(performance.now() - from).toBeGreaterThanOrEqual(ttl);
    const before = performance.now();
    await until('three leases are over', () => performance.now() > before + 3 * ttl);
    expect(lease.held).toBe(true);
    await expect(us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    await expect(us.acquire('other', { ttl: ttl + 1 })).rejects.toThrow(LockOptionsError);
    expect(await lease.release()).toBe(true);
    expect(await sides.theirs.exists('k')).toBe(0);
  });
});
