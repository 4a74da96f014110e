import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { monotonic } from '../support/monotonic.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';
import { type Section, Worker } from '../support/worker.js';

const SECONDS = process.env['FULL'] ? 20 : 3;

let redis: RedisProcess;
let observer: Observer;
let workers: Worker[];
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
  workers = await Worker.startMany(4, { redis: redis.url });
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  observer.close();
  await redis.stop();
});

/** The sections of all processes in the order of their tokens, and what Redis was asked for them. */
async function contend(pause: number): Promise<{ sections: Section[]; commands: number }> {
  const key = `account-${pause}`;
  const contention = { key, callers: 16, end: monotonic() + SECONDS * 1_000, pause };
  const before = await observer.calls('evalsha', 'eval');
  const histories = await Promise.all(workers.map((worker) => worker.call('contend', contention)));
  const commands = (await observer.calls('evalsha', 'eval')) - before;
  const sections = histories.flat().sort((a, b) => a.token - b.token);
  expect(Number(await observer.redis.get(`value:${key}`))).toBe(sections.length);
  return { sections, commands };
}

for (const pause of [0, 5]) {
  it(`64 callers in 4 processes lose no update in sections of up to ${pause} ms`, async () => {
    const { sections, commands } = await contend(pause);
    expect(sections.length).toBeGreaterThan(100 * SECONDS);
    for (const [at, section] of sections.entries()) {
      expect(section.released).toBe(true);
      const before = sections[at - 1];
      if (!before) continue;
      expect(section.token).toBeGreaterThan(before.token);
      expect(section.entered).toBeGreaterThan(before.left);
      // Who was granted at once came to an empty queue, at the moment his token tells.
      const [mine, his] = [section, before].map(({ arrival, token }) => arrival ?? token);
      expect(mine).toBeGreaterThan(his!);
    }
    expect(commands / sections.length).toBeLessThanOrEqual(2.2);
    await until('no trace left', async () => (await observer.traces()).length === 0);
    console.info(
      `${sections.length} sections in ${SECONDS} s, ${(commands / sections.length).toFixed(3)} commands a section`,
    );
  });
}
