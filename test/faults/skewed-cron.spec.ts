import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MARKERS } from '../../lib/engine/locks/holder.js';
import { RedisProcess } from '../../tools/redis-server.js';
import type { CronReplicaOptions } from '../support/cron-replica.js';
import { Observer } from '../support/observer.js';
import { Replica } from '../support/replica.js';
import { SteppedClock } from '../support/stepped-clock.js';
import { until } from '../support/until.js';

const TURNS = process.env['FULL'] ? 20 : 1;
/** Seconds from turn to turn. */
const EVERY = 6;
const MIN_HOLD = 5_000;
/** How far the clocks of the replicas are behind, in ms: by nearly the minimum hold; a busy machine needs the rest. */
const BEHIND = [0, 1_800, MIN_HOLD - 1_200];

interface Note {
  readonly what: 'turn' | 'run' | 'skip';
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
    every: EVERY,
    minHold: MIN_HOLD,
    history,
    job: 'fast',
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
    .map(([, turn, pid]) => ({ what, turn: Number(turn), pid: Number(pid) }));
}

/** How often each of the next turns ran, once `count` replicas have decided on each. */
async function runsOfTurns(turns: number, count = replicas.length): Promise<number[]> {
  const first = await until('a turn has come for the first clock', () => {
    const latest = Math.max(0, ...notes('turn').map(({ turn }) => turn));
    return latest > 0 ? latest + 1 : undefined; // whole turns only
  });
  const wanted = Array.from({ length: turns }, (_, at) => first + at);
  await until(
    'every replica has run them or skipped them',
    () => {
      const decided = [...notes('run'), ...notes('skip')];
      return wanted.every((turn) => decided.filter((note) => note.turn === turn).length >= count);
    },
    (turns + 2) * EVERY * 1_000 + 10_000,
  );
  const ran = notes('run');
  return wanted.map((turn) => ran.filter((note) => note.turn === turn).length);
}

/** In ms; start-up and a last decision beside the turns. */
const LONG = (TURNS + 2) * EVERY * 1_000 + 40_000;

const withClocks = clocks.every(Boolean) ? describe : describe.skip;

withClocks('a job of a moment, on three replicas whose clocks are up to its minHold apart', () => {
  it(
    'runs once a turn',
    async () => {
      await start();
      expect(await runsOfTurns(TURNS)).toEqual(Array(TURNS).fill(1));
    },
    LONG,
  );

  it(
    'runs once a turn although it fails',
    async () => {
      await start({ job: 'failing' });
      expect(await runsOfTurns(TURNS)).toEqual(Array(TURNS).fill(1));
    },
    LONG,
  );

  it('runs once a clock without minHold: the test can fail', async () => {
    await start({ minHold: 0 });
    expect(Math.max(...(await runsOfTurns(1)))).toBeGreaterThan(1);
  });

  it('does not run again when the replica that runs it shuts down meanwhile', async () => {
    await start();
    const before = await until('it ran', () => notes('run').length);
    writeFileSync(`${history}.stay`, '');
    const { pid, turn } = await until('it runs and stays', () => notes('run')[before]);
    const runner = replicas.find((replica) => replica.pid === pid)!;
    await runner.terminate();
    rmSync(`${history}.stay`);
    expect(await observer.holder('job')).toBe(MARKERS.kept);
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
