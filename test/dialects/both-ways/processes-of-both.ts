import { expect, it, jest } from '@jest/globals';
import { Worker } from '../../support/worker.js';
import { eachOf, shareLocks } from '../both-ways.js';
import { Crowd } from '../crowd.js';
import type { DrivenPeer } from '../peers/driven-peer.js';
import { Sides } from '../sides.js';

const ROUND = process.env['FULL'] ? 6_000 : 1_500;
/** Of a client of theirs, in ms; no machine is as busy as that. */
const LEASE = 20_000;
const KILLED = 2_000;

jest.setTimeout(300_000); // several JVMs start in a test

/** What holds beside a library for the JVM, each client of which is a process. */
export function shareLocksWithProcesses(peers: readonly DrivenPeer[]): void {
  shareLocks(new Sides(), peers, processesOfBoth);
}

function processesOfBoth(sides: Sides, here: readonly DrivenPeer[]): void {
  it('three processes of theirs and three of ours never hold it at one time, and lose no update, also when one of each is killed', () =>
    eachOf(
      here,
      async (peer, nth) => {
        const { dialect, waits } = peer;
        const key = `crowd${nth}`;
        const workers = await Worker.startMany(4, { redis: sides.redis.url, dialect });
        const [killed, ...ours] = workers.map((worker) =>
          sides.closing(worker, (one) => one.kill()),
        );
        const clients = await Promise.all(
          [1, 2, 3, 4].map(async () =>
            sides.closing(await peer.connect(sides.redis.url), (one) => one.close()),
          ),
        );
        const [dead, ...theirs] = clients;
        const crowd = new Crowd(sides.theirs, ROUND, { lease: LEASE, key });
        await Promise.all([
          crowd.killedProcess(killed!, key, KILLED),
          crowd.killed(dead!, key, KILLED),
          ...ours.map((worker) => crowd.process(worker, key)),
          ...theirs.map((client, at) =>
            crowd.theirProcess(() =>
              waits && at > 0 ? client.nextTurn(key) : client.turn(key, LEASE),
            ),
          ),
        ]);
        await crowd.check();
        expect(crowd.killings).toBe(2);
        await Promise.all([
          ...workers.map((one) => one.kill()),
          ...clients.map((one) => one.close()),
        ]);
      },
      2,
    ));
}
