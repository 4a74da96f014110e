import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisProcess } from '../../tools/redis-server.js';
import type { CronReplicaOptions } from '../support/cron-replica.js';
import { Observer } from '../support/observer.js';
import { Replica } from '../support/replica.js';
import { SteppedClock } from '../support/stepped-clock.js';
import { until } from '../support/until.js';

/** Seconds from turn to turn. */
export const EVERY = 6;
export const MIN_HOLD = 5_000;
/** How far the clocks of the replicas are behind, in ms: by nearly the minimum hold; a busy machine needs the rest. */
const BEHIND = [0, 1_800, MIN_HOLD - 1_200];

/** None where `SteppedClock` has none. */
export const clocks = BEHIND.map(() => SteppedClock.make(process.execPath));

interface Note {
  readonly what: 'turn' | 'run' | 'skip';
  readonly job: string;
  readonly turn: number;
  readonly pid: number;
}

/** A Redis, and replicas that run jobs by cron, each by its own of these clocks. */
export class SkewedReplicas {
  readonly #folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-cron-'));
  readonly #history = join(this.#folder, 'history');
  readonly observer: Observer;
  replicas: Replica[] = [];

  private constructor(private readonly redis: RedisProcess) {
    this.observer = new Observer(redis.url);
  }

  static async on(): Promise<SkewedReplicas> {
    return new SkewedReplicas(await RedisProcess.start());
  }

  async start(options: Partial<CronReplicaOptions> = {}): Promise<void> {
    const all = {
      redis: this.redis.url,
      jobs: ['job'],
      every: EVERY,
      minHold: MIN_HOLD,
      history: this.#history,
      ...options,
    };
    this.replicas = await Promise.all(
      clocks.map((clock, at) => {
        clock!.set(-BEHIND[at]!);
        return Replica.start('cron-replica', all, clock!.env);
      }),
    );
  }

  notes(what: Note['what']): Note[] {
    if (!existsSync(this.#history)) return [];
    return readFileSync(this.#history, 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([word]) => word === what)
      .map(([, job, turn, pid]) => ({ what, job: job!, turn: Number(turn), pid: Number(pid) }));
  }

  /** Whether a job that is run from now on stays for ever. */
  jobsStay(shall: boolean): void {
    if (shall) writeFileSync(`${this.#history}.stay`, '');
    else rmSync(`${this.#history}.stay`);
  }

  /** How often each job ran in each of the next turns, once every replica has decided on each. */
  async runsOfTurns(turns: number, jobs: readonly string[]): Promise<number[][]> {
    const first = await until('a turn has come for the first clock', () => {
      const latest = Math.max(0, ...this.notes('turn').map(({ turn }) => turn));
      return latest > 0 ? latest + 1 : undefined; // whole turns only
    });
    const wanted = jobs.map((job) =>
      Array.from({ length: turns }, (_, at) => ({ job, turn: first + at })),
    );
    await until(
      'every replica has run them or skipped them',
      () => {
        const decided = [...this.notes('run'), ...this.notes('skip')];
        return wanted.flat().every((each) => countOf(each, decided) >= this.replicas.length);
      },
      (turns + 2) * EVERY * 1_000 + 10_000,
    );
    const ran = this.notes('run');
    return wanted.map((turnsOfJob) => turnsOfJob.map((each) => countOf(each, ran)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.kill()));
    this.observer.close();
    await this.redis.stop();
    rmSync(this.#folder, { recursive: true });
  }
}

function countOf(wanted: Pick<Note, 'job' | 'turn'>, all: readonly Note[]): number {
  return all.filter(({ job, turn }) => job === wanted.job && turn === wanted.turn).length;
}
