import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { RedisProcess } from '../../tools/redis-server.js';
import { readBuffer } from '../support/bounded-buffer.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';
import { Worker } from '../support/worker.js';

const COUNT = process.env['FULL'] ? 3_000 : 300;

let redis: RedisProcess;
let observer: Observer;
let workers: Worker[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
beforeEach(() => observer.redis.flushall());
afterEach(() => Promise.all(workers.map((worker) => worker.kill())));
afterAll(async () => {
  observer.close();
  await redis.stop();
});

it.each(['strict', 'local'] as const)(
  'producers and consumers of four processes, one killed and one frozen, lose nothing: %s',
  async (fairness) => {
    workers = await Worker.startMany(4, { redis: redis.url, fairness });
    const runs = workers.map((worker) => worker.call('buffer', COUNT));
    runs[0]!.catch(() => {}); // it is killed
    const taken = async (): Promise<number> => (await readBuffer(observer.redis)).taken.length;
    await until('a third is taken', async () => (await taken()) >= COUNT / 3, 60_000);
    await workers[0]!.kill();
    workers[1]!.signal('SIGSTOP');
    await pause(1_500); // longer than its lease
    workers[1]!.signal('SIGCONT');
    await Promise.all(runs.slice(1));
    const state = await readBuffer(observer.redis);
    expect(state.taken).toEqual(Array.from({ length: COUNT }, (_, item) => item));
    expect(state).toMatchObject({ put: COUNT, items: [] });
    // Only the four callers of the killed process may still stand there, and not for long; in strict order
    // the entries in which they had their last turns too.
    const queue = '{lock:buffer}:queue';
    expect(await observer.redis.zcard(queue)).toBeLessThanOrEqual(fairness === 'strict' ? 8 : 4);
    expect(await observer.redis.pttl(queue)).not.toBe(-1);
    expect(await observer.redis.exists('lock:buffer')).toBe(0);
  },
  300_000,
);
