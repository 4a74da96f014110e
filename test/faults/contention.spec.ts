import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { monotonic } from '../support/monotonic.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';
import { type Section, Worker } from '../support/worker.js';

const SECONDS = process.env['FULL'] ? 20 : 2;

let redis: RedisProcess;
let observer: Observer;
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
afterAll(async () => {
  observer.close();
  await redis.stop();
});

/** The sections of all processes in the order of their tokens, and what Redis was asked for them. */
async function contend(
  fairness: 'local' | 'strict',
  pause: number,
): Promise<{ sections: Section[]; commands: number }> {
  const workers = await Worker.startMany(4, { redis: redis.url, fairness });
  const key = `account-${fairness}-${pause}`;
  const contention = { key, callers: 16, end: monotonic() + SECONDS * 1_000, pause };
  const before = await observer.calls('evalsha', 'eval');
  const histories = await Promise.all(workers.map((worker) => worker.call('contend', contention)));
  const commands = (await observer.calls('evalsha', 'eval')) - before;
  await Promise.all(workers.map((worker) => worker.kill()));
  const sections = histories.flat().sort((a, b) => a.token - b.token);
  expect(Number(await observer.redis.get(`value:${key}`))).toBe(sections.length);
  return { sections, commands };
}

describe.each(['strict', 'local'] as const)('%s fairness', (fairness) => {
  it.each([0, 5])(
    '64 callers in 4 processes lose no update (sections of up to %d ms)',
    async (pause) => {
      const { sections, commands } = await contend(fairness, pause);
      expect(sections.length).toBeGreaterThan(64); // nobody starves, and nobody waits for a poll at each turn
      for (const [at, section] of sections.entries()) {
        expect(section.released).toBe(true);
        const before = sections[at - 1];
        if (!before) continue;
        expect(section.token).toBeGreaterThan(before.token);
        expect(section.entered).toBeGreaterThan(before.left);
        if (fairness === 'local') continue; // a place is a process's, not a caller's
        // Who was granted at once came to an empty queue, at the moment his token tells.
        const [mine, his] = [section, before].map(({ arrival, token }) => arrival ?? token);
        expect(mine).toBeGreaterThan(his!);
      }
      expect(commands / sections.length).toBeLessThanOrEqual(2.2);
      await until('no trace left', async () => (await observer.traces()).length === 0);
      console.info(
        `${sections.length} sections in ${SECONDS} s, ${(commands / sections.length).toFixed(3)} commands a section`,
      );
    },
  );
});
