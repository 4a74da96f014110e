import { describe, it } from '@jest/globals';
import { excludeEachOther, outlastLeases, present } from './both-ways.js';
import { Crowd } from './crowd.js';
import { peers } from './peers/index.js';
import { Sides } from './sides.js';

const sides = new Sides();
const here = present(peers);

describe.each(here)('$name', (peer) => {
  excludeEachOther(sides, peer);

  it('and we never hold the lock at the same time, three clients each', async () => {
    const us = [1, 2, 3].map(() => sides.client({ dialect: peer.dialect }));
    const them = await Promise.all([1, 2, 3].map(() => sides.peer(peer)));
    const crowd = new Crowd(process.env['FULL'] ? 10_000 : 500);
    await Promise.all([
      ...us.map((client) => crowd.ours(client, 'crowd')),
      ...them.map((client) => crowd.theirs(client, 'crowd')),
    ]);
    crowd.check();
  }, 60_000);
});

describe('each of them', () => {
  outlastLeases(sides, here);
});
