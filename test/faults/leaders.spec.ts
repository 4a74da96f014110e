import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BY_POLL, SOON } from '../support/bounds.js';
import { monotonic } from '../support/monotonic.js';
import { type Reign, wrongReigns } from '../support/reigns.js';
import { until } from '../support/until.js';
import { Election } from './three-candidates.js';

/** Elections that go on beside each other, and how often the same happens in each. */
const [ELECTIONS, TURNS] = process.env['FULL'] ? [2, 5] : [1, 1];
const TTL = 4_000;
/** Of a leader who is to be followed, or to learn of it, long before it is over, in ms. */
const LASTING = 30_000;
/** How long there may be no leader after one died, in ms. */
const SUCCESSION = TTL + BY_POLL;

let elections: Election[];

describe('with a lease of seconds', () => {
  beforeAll(() => start(TTL));
  afterAll(stop);

  it('a leader that is frozen is followed within ttl + 1 s, and leads no more when it wakes', async () => {
    await inEach(async (election) => {
      const leader = await election.settled();
      const frozen = monotonic();
      election.replicaOf(leader).signal('SIGSTOP');
      const next = await election.reign(frozen, leader.token);
      expect(next.pid).not.toBe(leader.pid);
      expect(next.first - frozen).toBeLessThan(SUCCESSION);
      election.replicaOf(leader).signal('SIGCONT');
      await election.queued(2); // it has learnt that it was deposed, and stands again
    });
    neverTwo();
  });

  it('a Redis that comes back after the lease is over has a leader within ttl + 1 s, and never two lead at a time', async () => {
    await inEach(async (election) => {
      const leader = await election.settled();
      await election.redis.kill();
      const down = monotonic();
      await until('the leader has given up', () => monotonic() > down + TTL + 200);
      expect(election.reigns.at(-1)!.last).toBeLessThan(down + TTL);
      await election.redis.run();
      const up = monotonic();
      const next = await election.reign(up, leader.token);
      expect(next.first - up).toBeLessThan(SUCCESSION);
      await election.queued(2);
    });
    neverTwo();
  });

  it('a leader that is killed is followed within ttl + 1 s, and never two lead at a time', async () => {
    await Promise.all(elections.map((election) => election.reign(monotonic())));
    const before = elections.map(({ reigns }) => reigns.length);
    await inEach(async (election, turn) => {
      const leader = await election.settled();
      const killed = monotonic();
      await election.kill(leader);
      const next = await election.reign(killed, leader.token);
      expect(next.pid).not.toBe(leader.pid);
      expect(next.first - killed).toBeLessThan(SUCCESSION);
      if (turn < TURNS - 1) await election.add();
    });
    expect(elections.map(({ reigns }) => reigns.length)).toEqual(
      before.map((count) => count + TURNS),
    );
    neverTwo();
  });
});

describe('with a long lease', () => {
  beforeAll(() => start(LASTING));
  afterAll(stop);

  it('a Redis that comes back before the lease is over keeps its leader', async () => {
    await inEach(async (election) => {
      const leader = await election.settled();
      await election.redis.kill();
      await election.redis.run();
      await election.queued(2);
      const after = await election.reign(monotonic());
      expect(after.token).toBe(leader.token);
    });
    neverTwo();
  });

  it('a Redis that has forgotten everything: the old leader learns of it long before its lease is over, and tokens grow', async () => {
    await inEach(async (election) => {
      const leader = await election.settled();
      await election.observer.redis.flushall();
      await election.redis.kill();
      await election.redis.run();
      const up = monotonic();
      const next = await election.reign(up, leader.token);
      expect(next.first - up).toBeLessThan(SOON);
      await election.queued(2);
      const old = election.reigns.find(({ token }) => token === leader.token)!;
      expect(old.last - up).toBeLessThan(SOON);
    });
  });

  it('a leader that shuts down is followed at once', async () => {
    await inEach(async (election) => {
      const leader = await election.settled();
      const asked = monotonic();
      await election.replicaOf(leader).terminate();
      const next = await election.reign(asked, leader.token);
      expect(next.first - asked).toBeLessThan(SOON);
      const since = election.reigns.filter(({ token }) => token >= leader.token);
      expect(wrongReigns(since)).toEqual([]);
    }, 1);
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

async function start(ttl: number): Promise<void> {
  elections = await Promise.all(Array.from({ length: ELECTIONS }, () => Election.start(ttl)));
}

async function stop(): Promise<void> {
  await Promise.all(elections.map((election) => election.stop()));
}

/** Does the same so many times in each election. */
async function inEach(
  turn: (election: Election, turn: number) => Promise<void>,
  turns = TURNS,
): Promise<void> {
  await Promise.all(
    elections.map(async (election) => {
      for (let count = 0; count < turns; count += 1) await turn(election, count);
    }),
  );
}

function neverTwo(): void {
  for (const { reigns } of elections) expect(wrongReigns(reigns)).toEqual([]);
}
