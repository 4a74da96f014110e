import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { LockProcess } from '../support/lock-process.js';
import { CountingClock } from '../support/counting-clock.js';
import { later } from '../support/later.js';
import { until } from '../support/until.js';
import { RedisProcess } from '../../tools/redis-server.js';

const CYCLES = 1_000;
/** Commands, leases, waits and slices have a timer each, however many there are. */
const TIMERS = 4;

let redis: RedisProcess;
beforeAll(async () => {
  redis = await RedisProcess.start();
});
afterAll(() => redis.stop());

/** A process whose timers are counted. */
async function open(): Promise<{ locks: LockProcess; clock: CountingClock }> {
  const clock = new CountingClock();
  const options = { redis: redis.url, durability: 'ignore', fairness: 'local' } as const;
  const locks = new LockProcess(options, undefined, clock);
  await locks.locks.open();
  return { locks, clock };
}

it(`${CYCLES} cycles, each with a signal, leave no listener, no timer, and none after the end`, async () => {
  const { locks, clock } = await open();
  const { signal } = new AbortController();
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const lease = await locks.acquire('k', { signal });
    lease.signal.addEventListener('abort', () => {});
    if (cycle % 100 === 0) await lease.extend();
    await lease.release();
  }
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(locks.idle).toBe(true);
  expect(clock.running).toBeLessThanOrEqual(TIMERS);
  await locks.close();
  expect(clock.running).toBe(0);
});

it(`${CYCLES} waits that abort leave no listener, no timer and no entry`, async () => {
  const [{ locks, clock }, other] = [await open(), await open()];
  const held = await other.locks.acquire('k');
  for (let round = 0; round < CYCLES / 50; round += 1) {
    const controller = new AbortController();
    const { signal } = controller;
    const waits = Array.from({ length: 50 }, (_, nth) =>
      later(locks.acquire('k', { signal, wait: nth % 2 === 0 ? '1h' : Infinity })),
    );
    await locks.waiting('k', 50);
    controller.abort();
    await Promise.allSettled(waits);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  }
  await until('nothing is under way', () => locks.idle);
  expect((await other.locks.inspect('k')).waiting).toBe(0);
  expect(clock.running).toBeLessThanOrEqual(TIMERS);
  await held.release();
  for (const each of [{ locks, clock }, other]) {
    await each.locks.close();
    expect(each.clock.running).toBe(0);
  }
});

it('a shutdown with leases held and callers waiting leaves no timer and no listener', async () => {
  const { locks, clock } = await open();
  const { signal } = new AbortController();
  for (let nth = 0; nth < 20; nth += 1) await locks.acquire(`k${nth}`, { signal });
  const waits = Array.from({ length: 100 }, (_, nth) =>
    later(locks.acquire(`k${nth % 20}`, { signal, wait: '1h' })),
  );
  await locks.waiting('k0', 100);
  await locks.close();
  for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(clock.running).toBe(0);
});
