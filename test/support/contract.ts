import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { kinds } from './kinds.js';
import { quorums, stopShared, type Topology, topologies } from './topologies.js';
import type { World } from './world.js';

/** What must hold in a world; rejects if it does not. */
export type Check = (world: World) => Promise<void>;

/** A promise of the protocol: sentences about the user's world, each with the check that proves it. */
export type Contract = Readonly<Record<string, Check>>;

/** Where a promise is kept, and of which kinds; everywhere, of all, if nothing is said. */
interface Scope {
  readonly where?: readonly string[];
  readonly of?: readonly string[];
  /** The sentences that a Cluster does not keep: there nobody knows whether a push was heard. */
  readonly notInCluster?: readonly string[];
}

/** Tests the contract for every kind in every topology, or in these; what needs a real Redis only there. */
export function everywhere(
  promise: string,
  contract: Contract,
  onRedis: Contract = {},
  { where = Object.keys(topologies), of = Object.keys(kinds), notInCluster = [] }: Scope = {},
): void {
  const here = where.filter(isOfInterest);
  if (here.length === 0) return;
  afterAll(stopShared);
  describe.each(of)(`${promise}: %s`, (kind) => {
    describe.each(here)('on %s', (name) => {
      let topology: Topology;
      beforeAll(async () => {
        topology = await { ...topologies, ...quorums }[name]!();
      });
      afterAll(() => topology.stop());

      const checks = name.startsWith('one Redis') ? { ...contract, ...onRedis } : contract;
      const kept = Object.entries(checks).filter(
        ([sentence]) => name !== 'a cluster' || !notInCluster.includes(sentence),
      );
      it.each(kept)('%s', async (_sentence, check) => {
        const world = await topology.world(kinds[kind]!);
        try {
          await check(world);
        } finally {
          await world.close();
        }
      });
    });
  });
}

/** Those that take minutes to start, stop or wait, or differ from others in little: the full run, with TOPOLOGIES=long. It may name one. */
const LONG = [
  'one Redis, in db 5',
  'one Redis, replicated and confirmed',
  'a primary behind Sentinels',
  'a cluster',
];

/** Those in which another server than the usual may answer otherwise: TOPOLOGIES=servers. */
const SERVERS = ['one Redis', 'one Redis, strictly fair', 'a cluster', 'a quorum of three'];

/** Whether this run tests a topology. That ioredis is version 5 changes nothing in memory, nor how processes share their turns. */
export function isOfInterest(topology: string): boolean {
  const { FULL, TOPOLOGIES } = process.env;
  if (TOPOLOGIES === 'servers') return SERVERS.includes(topology);
  if (TOPOLOGIES && TOPOLOGIES !== 'long') return topology === TOPOLOGIES;
  if (LONG.includes(topology) ? !FULL && TOPOLOGIES !== 'long' : TOPOLOGIES === 'long')
    return false;
  return process.env['IOREDIS'] !== '5' || !/memory|strictly fair/.test(topology);
}
