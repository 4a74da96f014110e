import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisProcess } from '../../tools/redis-server.js';
import { controlOf } from '../support/control.js';
import { Replica } from '../support/replica.js';
import { until } from '../support/until.js';

const TTL = 3_000;

let redis: RedisProcess;
let control: Redis;
let folder: string;
let history: string;
let replicas: Replica[];
beforeEach(async () => {
  redis = await RedisProcess.start();
  control = controlOf(redis.url);
  folder = mkdtempSync(join(tmpdir(), 'sigterm-'));
  history = join(folder, 'history');
  writeFileSync(history, '');
  replicas = [];
});
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.kill()));
  control.disconnect();
  await redis.stop();
  rmSync(folder, { recursive: true });
});

describe.each(['schedule', 'locks'] as const)('SIGTERM, with %s imported first', (first) => {
  it('lets a job end under its lock, and then the other replica in', async () => {
    const [runner, other] = await start(first, 60_000);
    let ended = false;
    const terminated = runner.terminate().then(() => (ended = true));
    const renewals: number[] = [];
    await until('it has been renewed for longer than its ttl', async () => {
      renewals.push(await control.pttl('lock:job'));
      const jumps = renewals.filter((ms, at) => at > 0 && ms > renewals[at - 1]! + TTL / 10);
      return jumps.length >= 4; // each by a third of the ttl
    });
    expect([ended, notes().map(({ what }) => what)]).toEqual([false, ['begin']]);
    letGo(runner);
    await terminated;
    letGo(other);
    await until('the other has run', () => notes('end').some(({ pid }) => pid === other.pid));
    const [begin, end, next] = notes();
    expect([begin!.pid, end!.pid, next!.pid]).toEqual([runner.pid, runner.pid, other.pid]);
    expect([begin!.what, end!.what, next!.what]).toEqual(['begin', 'end', 'begin']);
  });

  it('tells a job that outlives the grace, and ends the process', async () => {
    const [runner, other] = await start(first, 1_000);
    await runner.terminate();
    const [told] = notes('told');
    expect(told!.pid).toBe(runner.pid);
    const next = await until('the other runs', () =>
      notes('begin').find(({ pid }) => pid === other.pid),
    );
    expect(next.at).toBeGreaterThanOrEqual(told!.at);
  });
});

/** Two replicas; one runs the job, the other asks for it again and again. */
async function start(
  first: 'schedule' | 'locks',
  shutdownGrace: number,
): Promise<[runner: Replica, other: Replica]> {
  const options = { redis: redis.url, ttl: TTL, shutdownGrace, first, history };
  replicas = await Replica.startMany(2, 'draining-replica', options);
  const { pid } = await until('one runs', () => notes('begin')[0]);
  const [one, another] = replicas as [Replica, Replica];
  return one.pid === pid ? [one, another] : [another, one];
}

/** Lets the bodies of a replica end. */
function letGo({ pid }: { pid: number }): void {
  writeFileSync(`${history}.${pid}`, '');
}

function notes(what?: string): Note[] {
  return readFileSync(history, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '))
    .map(([word, pid, at]) => ({ what: word!, pid: Number(pid), at: Number(at) }))
    .filter((note) => what === undefined || note.what === what);
}

interface Note {
  readonly what: string;
  readonly pid: number;
  readonly at: number;
}
