import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { RedisLockOptions } from '../../lib/engine/options/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { SOON } from '../support/bounds.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';
import { Worker } from '../support/worker.js';

const CYCLES = process.env['FULL'] ? 100_000 : 10_000;

let redis: RedisProcess;
let observer: Observer;
const workers: Worker[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  observer.close();
  await redis.stop();
});

async function start(options: RedisLockOptions & { redis: string }): Promise<Worker> {
  const worker = await Worker.start(options);
  workers.push(worker);
  return worker;
}

it(`${CYCLES} cycles leave heap, timers, listeners and keys as they were`, async () => {
  const worker = await start({ redis: redis.url });
  const before = await worker.call('cycle', CYCLES / 2);
  const keys = await observer.redis.dbsize();
  const after = await worker.call('cycle', CYCLES);
  expect(after.listeners).toBe(0);
  expect(after.timers).toBeLessThanOrEqual(2); // one bounds commands, one watches leases
  expect(await observer.traces()).toEqual([]);
  expect(await observer.redis.dbsize()).toBe(keys);
  const grown = after.heap - before.heap;
  expect(grown).toBeLessThan(1_000_000);
  console.info(`${CYCLES} cycles: heap ${Math.round(grown / 1_024)} KB more, ${keys} keys`);
});

/** Ms until the process has ended by itself. */
async function farewell(worker: Worker): Promise<number> {
  const started = performance.now();
  const { took } = await worker.call('close');
  expect(took).toBeLessThan(SOON);
  await worker.exited;
  return performance.now() - started;
}

it('a closed process gives back what it holds, queues nowhere, and ends by itself', async () => {
  const worker = await start({ redis: redis.url });
  for (const key of ['a', 'b', 'c']) await worker.call('acquire', key);
  const waiting = worker.call('acquire', 'a').catch((error: Error) => error.name);
  await observer.queued('a', 1);
  expect(await farewell(worker)).toBeLessThan(SOON);
  expect(await waiting).toBe('LockShutdownError');
  expect(await observer.traces()).toEqual([]);
});

for (const trouble of ['blackHole', 'refuse', 'reset'] as const) {
  it(`a closed process ends by itself soon when Redis is away (${trouble})`, async () => {
    const proxy = await FaultProxy.before(redis.port);
    const worker = await start({ redis: proxy.url, commandTimeout: 30_000 });
    await worker.call('acquire', 'a', { ttl: 60_000 });
    const waiting = worker.call('acquire', 'a').catch((error: Error) => error.name);
    await observer.queued('a', 1);
    await proxy[trouble]();
    expect(await farewell(worker)).toBeLessThan(SOON);
    expect(await waiting).toBe('LockShutdownError');
    await proxy.close();
    await observer.redis.flushall();
  });
}

it('a process whose Redis has been away for long ends by itself soon', async () => {
  const proxy = await FaultProxy.before(redis.port);
  const worker = await start({ redis: proxy.url, commandTimeout: 1_000 });
  await worker.call('acquire', 'a', { ttl: 3_000 });
  proxy.blackHole();
  await until('the lease is lost', async () => (await worker.call('load')).held === 0);
  expect(await farewell(worker)).toBeLessThan(SOON);
  await proxy.close();
});
