import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisProcess } from '../../tools/redis-server.js';
import { BY_POLL, SOON } from '../support/bounds.js';
import { monotonic } from '../support/monotonic.js';
import { Observer } from '../support/observer.js';
import { type Reign, reignsIn, wrongReigns } from '../support/reigns.js';
import { Replica } from '../support/replica.js';
import { until } from '../support/until.js';

const TURNS = process.env['FULL'] ? 10 : 1;
const TTL = 4_000;
/** Of a leader who is to be followed, or to learn of it, long before it is over, in ms. */
const LASTING = 30_000;
/** How long there may be no leader after one died, in ms. */
const SUCCESSION = TTL + BY_POLL;

// Replicas start in seconds, and on a busy machine in many.
jest.setTimeout(180_000);

let redis: RedisProcess;
let observer: Observer;
let folder: string;
let history: string;
let replicas: Replica[] = [];

/** Three replicas that stand in one election, on a Redis that keeps its data. */
async function start(ttl: number): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-reigns-'));
  history = join(folder, 'history');
  redis = await RedisProcess.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  observer = new Observer(redis.url);
  replicas = await Replica.startMany(3, 'leader-replica', { redis: redis.url, ttl, history });
}

async function stop(): Promise<void> {
  await Promise.all(replicas.map((replica) => replica.kill()));
  observer.close();
  await redis.stop();
  rmSync(folder, { recursive: true });
}

/** Whoever leads at this moment, once somebody does after `since`, under a token above `above`. */
function reign(since: number, above = 0): Promise<Reign> {
  return until('somebody leads', () => {
    const latest = existsSync(history) ? reignsIn(history).at(-1) : undefined;
    return latest && latest.token > above && latest.last > since ? latest : undefined;
  });
}

function replicaOf({ pid }: Reign): Replica {
  return replicas.find((replica) => replica.pid === pid)!;
}

/** Replicas that do not lead wait in the queue. */
async function queued(count: number): Promise<void> {
  await observer.queued('leader:feed', count);
}

describe('with a lease of seconds', () => {
  beforeAll(() => start(TTL));
  afterAll(stop);

  it('a leader that is frozen is followed within ttl + 1 s, and leads no more when it wakes', async () => {
    for (let turn = 0; turn < TURNS; turn += 1) {
      const leader = await reign(monotonic());
      await queued(2);
      const frozen = monotonic();
      replicaOf(leader).signal('SIGSTOP');
      const next = await reign(frozen, leader.token);
      expect(next.pid).not.toBe(leader.pid);
      expect(next.first - frozen).toBeLessThan(SUCCESSION);
      replicaOf(leader).signal('SIGCONT');
      await queued(2); // it has learnt that it was deposed, and stands again
    }
    expect(wrongReigns(reignsIn(history))).toEqual([]);
  });

  it('a Redis that comes back after the lease is over has a leader within ttl + 1 s, and never two lead at a time', async () => {
    for (let turn = 0; turn < TURNS; turn += 1) {
      const leader = await reign(monotonic());
      await queued(2);
      await redis.kill();
      const down = monotonic();
      await until('the leader has given up', () => monotonic() > down + TTL + 200);
      expect(reignsIn(history).at(-1)!.last).toBeLessThan(down + TTL);
      await redis.run();
      const up = monotonic();
      const next = await reign(up, leader.token);
      expect(next.first - up).toBeLessThan(SUCCESSION);
      await queued(2);
    }
    expect(wrongReigns(reignsIn(history))).toEqual([]);
  });

  it('a leader that is killed is followed within ttl + 1 s, and never two lead at a time', async () => {
    await reign(monotonic());
    const before = reignsIn(history).length;
    for (let turn = 0; turn < TURNS; turn += 1) {
      const leader = await reign(monotonic());
      await queued(2);
      const killed = monotonic();
      await replicaOf(leader).kill();
      const next = await reign(killed, leader.token);
      expect(next.pid).not.toBe(leader.pid);
      expect(next.first - killed).toBeLessThan(SUCCESSION);
      replicas = replicas.filter((replica) => replica.pid !== leader.pid);
      if (turn === TURNS - 1) break;
      replicas.push(await Replica.start('leader-replica', { redis: redis.url, ttl: TTL, history }));
    }
    expect(reignsIn(history)).toHaveLength(before + TURNS);
    expect(wrongReigns(reignsIn(history))).toEqual([]);
  });
});

describe('with a long lease', () => {
  beforeAll(() => start(LASTING));
  afterAll(stop);

  it('a Redis that comes back before the lease is over keeps its leader', async () => {
    for (let turn = 0; turn < TURNS; turn += 1) {
      const leader = await reign(monotonic());
      await queued(2);
      await redis.kill();
      await redis.run();
      await queued(2);
      const after = await reign(monotonic());
      expect(after.token).toBe(leader.token);
    }
    expect(wrongReigns(reignsIn(history))).toEqual([]);
  });

  it('a Redis that has forgotten everything: the old leader learns of it long before its lease is over, and tokens grow', async () => {
    for (let turn = 0; turn < TURNS; turn += 1) {
      const leader = await reign(monotonic());
      await queued(2);
      await observer.redis.flushall();
      await redis.kill();
      await redis.run();
      const up = monotonic();
      const next = await reign(up, leader.token);
      expect(next.first - up).toBeLessThan(SOON);
      await queued(2);
      const old = reignsIn(history).find(({ token }) => token === leader.token)!;
      expect(old.last - up).toBeLessThan(SOON);
    }
  });

  it('a leader that shuts down is followed at once', async () => {
    const leader = await reign(monotonic());
    await queued(2);
    const asked = monotonic();
    await replicaOf(leader).terminate();
    const next = await reign(asked, leader.token);
    expect(next.first - asked).toBeLessThan(SOON);
    const since = reignsIn(history).filter(({ token }) => token >= leader.token);
    expect(wrongReigns(since)).toEqual([]);
  });
});

describe('the judge of reigns', () => {
  const one: Reign = { token: 5, pid: 1, first: 10, last: 20 };

  it('accepts leaders that follow each other', () => {
    expect(wrongReigns([one, { token: 6, pid: 2, first: 21, last: 30 }])).toEqual([]);
  });

  it('finds two that lead at a time, or under one token', () => {
    expect(wrongReigns([one, { token: 6, pid: 2, first: 19, last: 30 }])).toHaveLength(1);
    expect(wrongReigns([one, { token: 5, pid: 2, first: 30, last: 40 }])).toHaveLength(1);
    expect(wrongReigns([one, { token: 6, pid: 2, first: 1, last: 2 }])).toHaveLength(1);
  });
});
