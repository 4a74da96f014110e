import { beforeEach, describe, expect, it } from '@jest/globals';
import { NATIVE } from '../../lib/engine/options/index.js';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { Cleanup } from '../../lib/engine/client/leases/cleanup.js';
import { Claim } from '../../lib/engine/client/leases/claim.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

const TTL = 30_000;
const request: LockRequest = { key: 'k', holder: 'me', ttl: TTL, tokenBlock: 1, format: NATIVE };

let clock: ManualClock;
let told: LockStoreError[];
let cleanup: Cleanup;
/** When it was tried (monotonic ms). */
let tried: number[];
beforeEach(() => {
  [clock, told, tried] = [new ManualClock(), [], []];
  cleanup = new Cleanup({} as LockStore, clock, (error) => told.push(error));
});

function failing(retryable: boolean): () => Promise<never> {
  return () => {
    tried.push(clock.monotonic());
    return Promise.reject(new LockStoreError('no', { outcome: 'refused', retryable }));
  };
}

describe('a caller that gave up', () => {
  it('leaves what the store refuses to take back: that is told, and not tried again', async () => {
    cleanup.abandon(new Claim(request, 1_000, clock), failing(false));
    await clock.advance(2 * TTL);
    expect([tried.length, told.length, cleanup.size, clock.pending]).toEqual([1, 1, 0, 0]);
  });

  it('tries again for a ttl where that fails, after pauses that grow to two seconds at most', async () => {
    cleanup.abandon(new Claim(request, 1_000, clock), failing(true));
    for (let passed = 0; passed < TTL + 5_000; passed += 10) await clock.advance(10);
    const pauses = tried.slice(1).map((at, nth) => at - tried[nth]!);
    expect(pauses[0]).toBeGreaterThanOrEqual(100);
    expect(pauses[0]).toBeLessThanOrEqual(210);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(2_010);
    expect(Math.min(...pauses.slice(4))).toBeGreaterThanOrEqual(1_000);
    expect(tried.at(-1)!).toBeGreaterThan(TTL - 2_010);
    expect([told.length, cleanup.size]).toEqual([0, 0]);
  });
});
