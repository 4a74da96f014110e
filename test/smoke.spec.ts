import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Leases } from '../lib/leases/leases.js';
import { RedisLockStore } from '../lib/locks/lock/redis-lock-store.js';
import { moduleSettings, systemClock } from '../lib/options/index.js';
import { RedisProcess } from '../tools/redis-server.js';

let redis: RedisProcess;
beforeAll(async () => {
  redis = await RedisProcess.start();
});
afterAll(() => redis.stop());

function make() {
  const settings = moduleSettings({ redis: redis.url });
  return {
    settings,
    leases: new Leases(new RedisLockStore(settings, systemClock), settings, systemClock),
  };
}

it('hands off', async () => {
  const a = make();
  const b = make();
  const t0 = performance.now();
  const first = await a.leases.acquire('k', a.settings.call);
  const t1 = performance.now();
  const waits = Array.from({ length: 20 }, (_, i) =>
    (i % 2 ? a : b).leases.acquire('k', a.settings.call).then(async (l) => {
      order.push(i);
      tokens.push(l.fencingToken);
      await l.release();
    }),
  );
  const order: number[] = [],
    tokens: number[] = [first.fencingToken];
  await new Promise((r) => setTimeout(r, 100));
  const t2 = performance.now();
  expect(await first.release()).toBe(true);
  await Promise.all(waits);
  console.log(
    t1 - t0,
    performance.now() - t2,
    order,
    a.leases.load,
    b.leases.load,
    JSON.stringify(first),
  );
  expect(tokens).toEqual([...tokens].sort((x, y) => x - y));
  const N = 20000;
  const t3 = performance.now();
  for (let i = 0; i < N / 10; i++) {
    const l = await a.leases.acquire('z', a.settings.call);
    await l.release();
  }
  const t4 = performance.now();
  await Promise.all(
    Array.from({ length: 64 }, async (_, j) => {
      for (let i = 0; i < N / 64; i++) {
        const l = await a.leases.acquire('q' + j, a.settings.call);
        await l.release();
      }
    }),
  );
  const t5 = performance.now();
  let sections = 0;
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      for (let i = 0; i < 100; i++) {
        const l = await a.leases.acquire('hot', a.settings.call);
        sections++;
        await l.release();
      }
    }),
  );
  const t6 = performance.now();
  console.log(
    'c1/s',
    (N / 10 / (t4 - t3)) * 1000,
    'c64/s',
    (N / (t5 - t4)) * 1000,
    'hot/s',
    (sections / (t6 - t5)) * 1000,
  );
  await a.leases.close();
  await b.leases.close();
});
