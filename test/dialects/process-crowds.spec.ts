import { it } from '@jest/globals';
import { Worker } from '../support/worker.js';
import { eachOf, thoseHere } from './both-ways.js';
import { Crowd } from './crowd.js';
import { mixtures } from './mixtures.js';
import { Sides } from './sides.js';

const ROUND = process.env['FULL'] ? 15_000 : 4_000;
/** Of a client of theirs, in ms. */
const LEASE = 1_000;

const sides = new Sides();

const here = thoseHere(mixtures);

it(
  'three processes of ours and three of theirs never hold a lock at the same time, and none loses a lease',
  () =>
    eachOf(here, async ({ peer, ours, past: crashed }, nth) => {
      const name = `crowd${nth}`;
      const key = 'dialect' in ours ? name : `${name}_lock`; // a native lock has no suffix
      const workers = await Worker.startMany(3, { ...ours, redis: sides.redis.url });
      for (const worker of workers) sides.closing(worker, (one) => one.kill());
      const clients = await Promise.all([1, 2, 3].map(() => sides.peer(peer)));
      const crash = crashed && (() => sides.theirs.set(`${name}_lock`, crashed()));
      const crowd = new Crowd(sides.theirs, ROUND, { lease: LEASE, key });
      await Promise.all([
        ...workers.map((worker) => crowd.process(worker, key)),
        ...clients.map((client) => crowd.theirs(client, name, crash)),
      ]);
      await crowd.check();
      await Promise.all(workers.map((one) => one.kill()));
    }),
  240_000,
);
