import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { monotonic } from '../support/monotonic.js';
import { Worker } from '../support/worker.js';

const SECONDS = process.env['FULL'] ? 20 : 2;

let redis: RedisProcess;
beforeAll(async () => {
  redis = await RedisProcess.start();
});
afterAll(() => redis.stop());

it.each(['strict', 'local'] as const)(
  'writers and optimistic readers in two processes, %s fairness: no reader uses a torn read',
  async (fairness) => {
    const workers = await Worker.startMany(2, { redis: redis.url, fairness });
    const end = monotonic() + SECONDS * 1_000;
    const race = { key: `pair-${fairness}`, callers: 8, end, pause: 10 };
    const counts = await Promise.all(workers.map((worker) => worker.call('torn', race)));
    await Promise.all(workers.map((worker) => worker.kill()));
    const total = (name: keyof (typeof counts)[0]): number =>
      counts.reduce((sum, each) => sum + each[name], 0);
    expect(total('torn')).toBe(0);
    // It could have found one: writes were seen half done, and not all readers were refused.
    expect(total('tornAndRefused')).toBeGreaterThan(10);
    expect(total('validated')).toBeGreaterThan(10);
    expect(total('written')).toBeGreaterThan(10 * SECONDS);
  },
);
