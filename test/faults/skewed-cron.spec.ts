import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEPT } from '../../lib/engine/protocol/constants.js';
import { RedisProcess } from '../../tools/redis-server.js';
import type { CronReplicaOptions } from '../support/cron-replica.js';
import { Observer } from '../support/observer.js';
import { Replica } from '../support/replica.js';
import { SteppedClock } from '../support/stepped-clock.js';
import { until } from '../support/until.js';

const FULL = process.env['FULL'] !== undefined;
/** How many turns each job has. */
const TURNS = FULL ? 4 : 1;
/** Of each kind, with locks of their own, whose turns come at once. */
const JOBS = FULL ? 5 : 1;
/** Seconds from turn to turn. */
const EVERY = 6;
const MIN_HOLD = 5_000;
/** How far the clocks of the replicas are behind, in ms: by nearly the minimum hold; a busy machine needs the rest. */
const BEHIND = [0, 1_800, MIN_HOLD - 1_200];

interface Note {
  readonly what: 'turn' | 'run' | 'skip';
  readonly job: string;
  readonly turn: number;
  readonly pid: number;
}

const clocks = BEHIND.map(() => SteppedClock.make(process.execPath));
let redis: RedisProcess;
let observer: Observer;
let folder: string;
let history: string;
let replicas: Replica[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-cron-'));
  history = join(folder, 'history');
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.kill()));
  observer.close();
  await redis.stop();
  rmSync(folder, { recursive: true });
});
afterAll(() => clocks.forEach((clock) => clock?.remove()));

async function start(options: Partial<CronReplicaOptions> = {}): Promise<void> {
  const all = {
    redis: redis.url,
    jobs: ['job'],
    every: EVERY,
    minHold: MIN_HOLD,
    history,
    ...options,
  };
  replicas = await Promise.all(
    clocks.map((clock, at) => {
      clock!.set(-BEHIND[at]!);
      return Replica.start('cron-replica', all, clock!.env);
    }),
  );
}

function notes(what: Note['what']): Note[] {
  if (!existsSync(history)) return [];
  return readFileSync(history, 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([word]) => word === what)
    .map(([, job, turn, pid]) => ({ what, job: job!, turn: Number(turn), pid: Number(pid) }));
}

/** How often each job ran in each of the next turns, once every replica has decided on each. */
async function runsOfTurns(turns: number, jobs: readonly string[]): Promise<number[][]> {
  const first = await until('a turn has come for the first clock', () => {
    const latest = Math.max(0, ...notes('turn').map(({ turn }) => turn));
    return latest > 0 ? latest + 1 : undefined; // whole turns only
  });
  const wanted = jobs.map((job) =>
    Array.from({ length: turns }, (_, at) => ({ job, turn: first + at })),
  );
  await until(
    'every replica has run them or skipped them',
    () => {
      const decided = [...notes('run'), ...notes('skip')];
      return wanted.flat().every((each) => countOf(each, decided) >= replicas.length);
    },
    (turns + 2) * EVERY * 1_000 + 10_000,
  );
  const ran = notes('run');
  return wanted.map((turnsOfJob) => turnsOfJob.map((each) => countOf(each, ran)));
}

function countOf(wanted: Pick<Note, 'job' | 'turn'>, all: readonly Note[]): number {
  return all.filter(({ job, turn }) => job === wanted.job && turn === wanted.turn).length;
}

/** In ms; start-up and a last decision beside the turns. */
const LONG = (TURNS + 2) * EVERY * 1_000 + 40_000;

const withClocks = clocks.every(Boolean) ? describe : describe.skip;

withClocks('a job of a moment, on three replicas whose clocks are up to its minHold apart', () => {
  it(
    'runs once a turn, also where it fails',
    async () => {
      const jobs = ['fast', 'failing'].flatMap((kind) =>
        Array.from({ length: JOBS }, (_, at) => `${kind}-${at}`),
      );
      await start({ jobs });
      expect(await runsOfTurns(TURNS, jobs)).toEqual(jobs.map(() => Array(TURNS).fill(1)));
    },
    LONG,
  );

  it('runs once a clock without minHold: the test can fail', async () => {
    await start({ minHold: 0 });
    const [runs] = await runsOfTurns(1, ['job']);
    expect(Math.max(...runs!)).toBeGreaterThan(1);
  });

  it('does not run again when the replica that runs it shuts down meanwhile', async () => {
    await start();
    const before = await until('it ran', () => notes('run').length);
    writeFileSync(`${history}.stay`, '');
    const { pid, turn } = await until('it runs and stays', () => notes('run')[before]);
    const runner = replicas.find((replica) => replica.pid === pid)!;
    await runner.terminate();
    rmSync(`${history}.stay`);
    expect(await observer.holder('job')).toBe(KEPT);
    expect(await observer.redis.pttl('lock:job')).toBeLessThanOrEqual(MIN_HOLD);
    replicas = replicas.filter((replica) => replica !== runner);
    await until('its turn has come on the others', () => {
      return notes('turn').filter((note) => note.turn === turn && note.pid !== pid).length === 2;
    });
    const next = await until('another runs the next', () => notes('run')[before + 1]);
    expect(next.turn).toBeGreaterThan(turn);
    expect(next.pid).not.toBe(pid);
  });
});
