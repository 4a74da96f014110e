import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { BY_POLL } from '../support/bounds.js';
import { monotonic } from '../support/monotonic.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';
import { Worker } from '../support/worker.js';

const TTL = 2_000;

let redis: RedisProcess;
let observer: Observer;
let workers: Worker[];
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
beforeEach(async () => {
  await observer.redis.flushall();
  workers = await Worker.startMany(3, { redis: redis.url, ttl: TTL });
});
afterEach(() => Promise.all(workers.map((worker) => worker.kill())));
afterAll(async () => {
  observer.close();
  await redis.stop();
});

it('a lease outlives the process that handed it over', async () => {
  const [request, queueWorker, other] = workers as [Worker, Worker, Worker];
  const given = await request.call('acquire', 'k');
  const waiting = other.call('acquire', 'k');
  await observer.queued('k', 1);
  const text = await request.call('handOver', given.lease);
  await request.kill();
  const taken = await queueWorker.call('restore', text);
  expect(taken.token).toBe(given.token);
  await until('it is renewed', () => Date.now() > taken.expiresAt);
  expect(await queueWorker.call('held', taken.lease)).toBe(true);
  expect(await other.call('load')).toMatchObject({ held: 0, waiting: 1 });
  const { released, at } = await queueWorker.call('release', taken.lease);
  expect(released).toBe(true);
  const next = await waiting;
  expect(next.token).toBeGreaterThan(taken.token);
  expect(next.at).toBeGreaterThanOrEqual(at);
});

it('a crash of who restored it costs one ttl', async () => {
  const [request, queueWorker, other] = workers as [Worker, Worker, Worker];
  const given = await request.call('acquire', 'k');
  const text = await request.call('handOver', given.lease);
  await queueWorker.call('restore', text);
  const waiting = other.call('acquire', 'k');
  await observer.queued('k', 1);
  await queueWorker.kill();
  const from = monotonic();
  expect(await observer.redis.pttl('lock:k')).toBeLessThanOrEqual(TTL);
  const next = await waiting;
  expect(next.at - from).toBeLessThan(TTL + BY_POLL);
  await expect(request.call('restore', text)).rejects.toThrow('another holder has the lock');
});

it('of three processes that restore it, again and again, one holds it', async () => {
  const [first] = workers as [Worker, Worker, Worker];
  let by = first;
  let { lease, token } = await first.call('acquire', 'k');
  for (let round = 0; round < 30; round += 1) {
    const text = await by.call('handOver', lease);
    const attempts = await Promise.allSettled(workers.map((each) => each.call('restore', text)));
    const holders = attempts.filter(({ status }) => status === 'fulfilled');
    expect(holders).toHaveLength(1);
    const at = attempts.findIndex(({ status }) => status === 'fulfilled');
    by = workers[at]!;
    const taken = (attempts[at] as PromiseFulfilledResult<{ lease: number; token: number }>).value;
    expect(taken.token).toBe(token);
    ({ lease, token } = taken);
  }
  expect((await by.call('release', lease)).released).toBe(true);
  for (const worker of workers) expect(await worker.call('load')).toMatchObject({ held: 0 });
});
