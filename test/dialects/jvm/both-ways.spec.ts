import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Worker } from '../../support/worker.js';
import { excludeEachOther, outlastLeases, present } from '../both-ways.js';
import { Crowd } from '../crowd.js';
import { buildJvm, FIRST_BUILD, type JvmClient } from '../peers/jvm.js';
import { jvmPeers } from '../peers/jvm-peers.js';
import { Sides } from '../sides.js';

const ROUND = process.env['FULL'] ? 6_000 : 1_500;
/** Of a client of theirs, in ms; no machine is as busy as that. */
const LEASE = 20_000;
const KILLED = 2_000;

jest.setTimeout(180_000); // several JVMs start in a test

const sides = new Sides();
const libraries = Object.entries(jvmPeers).map(
  ([library, peers]) => [library, present(peers)] as const,
);
const here = libraries.filter(([, peers]) => peers.length > 0);

beforeAll(async () => {
  if (here.length > 0) await buildJvm();
}, FIRST_BUILD);

describe.each(here)('%s', (_library, peers) => {
  describe.each(peers)('$name', (peer) => {
    const { dialect } = peer;
    const connect = async (): Promise<JvmClient> =>
      sides.closing(await peer.connect(sides.redis.url), (one) => one.close());
    const startWorkers = async (count: number): Promise<Worker[]> => {
      const workers = await Worker.startMany(count, { redis: sides.redis.url, dialect });
      return workers.map((worker) => sides.closing(worker, (one) => one.kill()));
    };

    excludeEachOther(sides, peer);

    it('three processes of theirs and three of ours never hold it at one time, and lose no update, also when one of each is killed', async () => {
      const [killed, ...ours] = await startWorkers(4);
      const [dead, ...theirs] = await Promise.all([1, 2, 3, 4].map(connect));
      const crowd = new Crowd(ROUND, LEASE);
      await Promise.all([
        crowd.killedProcess(killed!, 'crowd', KILLED),
        crowd.killed(dead!, 'crowd', KILLED),
        ...ours.map((worker) => crowd.process(worker, 'crowd')),
        ...theirs.map((client, nth) =>
          crowd.theirProcess(() =>
            peer.waits && nth > 0 ? client.nextTurn('crowd') : client.turn('crowd', LEASE),
          ),
        ),
      ]);
      crowd.check();
      expect(crowd.killings).toBe(2);
      expect(Number(await sides.theirs.get('value:crowd'))).toBe(crowd.counted);
    });
  });

  describe('each of them', () => {
    outlastLeases(sides, peers);
  });
});
