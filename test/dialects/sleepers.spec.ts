import { beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import { eachOf, thoseHere } from './both-ways.js';
import { Crowd } from './crowd.js';
import { peers, pythonRedisLock } from './peers/index.js';
import type { PeerClient } from './peers/peer.js';
import { Sides } from './sides.js';

const sides = new Sides();

/** A client that sleeps until it has the lock. */
function sleeper(client: PeerClient): PeerClient {
  return { ...client, acquire: (name) => client.wait!(name) };
}

const sleeping = thoseHere([pythonRedisLock, ...peers.sources].filter(({ waits }) => waits));

it(
  'sleepers and we take turns, and nobody is left asleep',
  () =>
    eachOf(sleeping, async (peer, nth) => {
      const key = `crowd${nth}`;
      const them = await Promise.all([1, 2, 3].map(() => sides.peer(peer)));
      const ours = [1, 2, 3].map(() => sides.client({ dialect: peer.dialect }));
      const crowd = new Crowd(sides.theirs, process.env['FULL'] ? 20_000 : 1_500, { key });
      await Promise.all([
        ...ours.map((client) => crowd.ours(client, key)),
        ...them.map((client) => crowd.theirs(sleeper(client), key)),
      ]);
      await crowd.check();
    }),
  240_000,
);

const here = pythonRedisLock.missing === undefined ? describe : describe.skip;

/** How many of their waiters sleep on the signal. */
async function asleep(): Promise<number> {
  const clients = (await sides.theirs.client('LIST')) as string;
  return clients.match(/cmd=blpop/g)?.length ?? 0;
}

here('waiters of python-redis-lock, who sleep without an end,', () => {
  let python: PeerClient[];
  beforeEach(async () => {
    sides.start('python-redis-lock');
    python = await Promise.all([1, 2].map(() => sides.peer(pythonRedisLock)));
  });

  async function waiting(): Promise<boolean[]> {
    const got: boolean[] = [];
    for (const client of python)
      void client.wait!('k').then(
        (answer) => got.push(answer),
        () => {},
      );
    await until('both sleep', async () => (await asleep()) === 2);
    return got;
  }

  it('are woken one at a time, when we give the lock back and when they do', async () => {
    const lease = await sides.us.acquire('k');
    const got = await waiting();
    const before = await sides.calls('set'); // with which each asks whenever it is woken
    expect(await lease.release()).toBe(true);
    await until('the first has it', () => got.length === 1);
    await sides.us.force('k');
    await until('the second has it', () => got.length === 2);
    expect(got).toEqual([true, true]);
    expect(await sides.calls('set')).toBe(before + 2);
  });
});
