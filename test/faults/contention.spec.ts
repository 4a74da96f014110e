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

describe.each(['strict', 'local'] as const)('%s fairness', (fairness) => {
  it.each([0, 5])(
    '64 callers in 4 processes lose no update (sections of up to %d ms)',
    async (pause) => {
      const { sections, commands, handOffs, missedPushes } = await contend(fairness, pause);
      expect(sections.length).toBeGreaterThan(64);
      expect(handOffs).toBeGreaterThan(2); // no process starves the others
      expect(missedPushes).toBeLessThan(handOffs / 2); // nobody waits for a poll at each turn
      let compared = 0;
      for (const [at, section] of sections.entries()) {
        expect(section.released).toBe(true);
        const before = sections[at - 1];
        if (!before) continue;
        expect(section.token).toBeGreaterThan(before.token);
        expect(section.entered).toBeGreaterThan(before.left);
        if (fairness === 'local') continue; // an entry is a process's, not a caller's
        if (section.came === undefined || before.came === undefined) continue;
        expect(section.came).toBeGreaterThan(before.came);
        compared += 1;
      }
      expect(compared).toBeGreaterThan(fairness === 'strict' ? sections.length / 4 : -1);
      expect(commands / sections.length).toBeLessThanOrEqual(2.2);
      await until('no trace left', async () => (await observer.traces()).length === 0);
      console.info(
        `${sections.length} sections in ${SECONDS} s, ${compared} compared, ${(commands / sections.length).toFixed(3)} commands a section, ${handOffs} hand-offs, ${missedPushes} of their pushes missed`,
      );
    },
  );
});

async function contend(fairness: 'local' | 'strict', pause: number): Promise<Contest> {
  const workers = await Worker.startMany(4, { redis: redis.url, fairness });
  const key = `account-${fairness}-${pause}`;
  const contention = { key, callers: 16, end: monotonic() + SECONDS * 1_000, pause };
  const [before, connected] = [await observer.calls('evalsha', 'eval'), await connections()];
  const histories = await Promise.all(workers.map((worker) => worker.call('contend', contention)));
  const commands = (await observer.calls('evalsha', 'eval')) - before;
  const missedPushes = (await connections()) - connected - workers.length; // each has one for the value
  await Promise.all(workers.map((worker) => worker.kill()));
  const sections = histories
    .flatMap((history, process) => history.map((section) => ({ ...section, process })))
    .sort((a, b) => a.token - b.token);
  const handOffs = sections.filter(
    ({ process }, at) => at > 0 && process !== sections[at - 1]!.process,
  ).length;
  expect(Number(await observer.redis.get(`value:${key}`))).toBe(sections.length);
  return { sections, commands, handOffs, missedPushes };
}

interface Contest {
  /** Of all processes in the order of their tokens. */
  readonly sections: Section[];
  /** What Redis was asked for them. */
  readonly commands: number;
  /** How often another process came in. */
  readonly handOffs: number;
  /** How often a process found by a poll what a push should have told it: it connects its inbox anew then. */
  readonly missedPushes: number;
}

/** How many connections the server has ever had. */
async function connections(): Promise<number> {
  const stats = await observer.redis.info('stats');
  return Number(/^total_connections_received:(\d+)/m.exec(stats)![1]);
}
