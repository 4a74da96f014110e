import { it } from '@jest/globals';
import { lockFormat } from '../../lib/engine/options/index.js';
import { eachOf, thoseHere } from './both-ways.js';
import { Deployment } from './deployment.js';
import { nodePeers } from './peers/index.js';
import { Sides } from './sides.js';

const sides = new Sides();

/** The way of docs/migration.md. */
it(
  'replicas that are replaced one by one, by a dialect and then by native locks, never hold a lock at the same time, and each has its turns',
  () =>
    eachOf(thoseHere(nodePeers), async (peer, nth) => {
      const { dialect } = peer;
      const deployment = new Deployment(sides, `hot${nth}`);
      await deployment.theirs(peer);
      await deployment.ours('in its dialect', { dialect });
      await deployment.ours('native', { keyPrefix: lockFormat(dialect).prefix });
      await deployment.end();
    }),
  600_000,
);
