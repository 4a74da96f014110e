import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockStoreError } from '../../lib/errors/index.js';
import { Departures } from '../../lib/client/departures.js';
import { Trail } from '../../lib/client/trail.js';
import type { LockPrimitive } from '../../lib/locks/lock-primitive.js';
import { ManualClock } from '../../lib/testing/index.js';

const TTL = 30_000;

let clock: ManualClock;
let told: LockStoreError[];
let departures: Departures;
/** When it was tried (monotonic ms). */
let tried: number[];
beforeEach(() => {
  [clock, told, tried] = [new ManualClock(), [], []];
  departures = new Departures({} as LockPrimitive, clock, (error) => told.push(error));
});

function failing(retryable: boolean): () => Promise<never> {
  return () => {
    tried.push(clock.monotonic());
    return Promise.reject(new LockStoreError('no', { outcome: 'refused', retryable }));
  };
}

describe('a departure', () => {
  it('that the store refuses for good is told, and not tried again', async () => {
    departures.start(failing(false), new Trail(1_000), TTL);
    await clock.advance(2 * TTL);
    expect([tried.length, told.length, departures.size, clock.pending]).toEqual([1, 1, 0, 0]);
  });

  it('that fails is tried again for a ttl, after pauses that grow to two seconds at most', async () => {
    departures.start(failing(true), new Trail(1_000), TTL);
    for (let passed = 0; passed < TTL + 5_000; passed += 10) await clock.advance(10);
    const pauses = tried.slice(1).map((at, nth) => at - tried[nth]!);
    expect(pauses[0]).toBeGreaterThanOrEqual(100);
    expect(pauses[0]).toBeLessThanOrEqual(210);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(2_010);
    expect(Math.min(...pauses.slice(4))).toBeGreaterThanOrEqual(1_000);
    expect(tried.at(-1)!).toBeGreaterThan(TTL - 2_010);
    expect([told.length, departures.size]).toEqual([0, 0]);
  });
});
