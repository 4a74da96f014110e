import { describe, it } from '@jest/globals';
import { Crowd } from './crowd.js';
import { peers } from './peers/index.js';
import type { PeerClient } from './peers/peer.js';
import { Sides } from './sides.js';

const sides = new Sides();

/** A client that sleeps until it has the lock. */
function sleeper(client: PeerClient): PeerClient {
  return { ...client, acquire: (name) => client.wait!(name) };
}

describe.each(peers.filter(({ waits, missing }) => waits && missing === undefined))(
  'sleepers of $name',
  (peer) => {
    const { dialect } = peer;
    it('and we take turns, and nobody is left asleep', async () => {
      const them = await Promise.all([1, 2, 3].map(() => sides.peer(peer)));
      const ours = [1, 2, 3].map(() => sides.client({ dialect }));
      const crowd = new Crowd(process.env['FULL'] ? 20_000 : 1_500);
      await Promise.all([
        ...ours.map((client) => crowd.ours(client, 'crowd')),
        ...them.map((client) => crowd.theirs(sleeper(client), 'crowd')),
      ]);
      crowd.check();
    }, 40_000);
  },
);
