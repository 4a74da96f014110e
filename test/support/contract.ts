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
  const placesOf = (kind: string): string[] => where.filter((name) => isOfInterest(name, kind));
  const here = of.filter((kind) => placesOf(kind).length > 0);
  if (here.length === 0) return;
  afterAll(stopShared);
  describe.each(here)(`${promise}: %s`, (kind) => {
    describe.each(placesOf(kind))('on %s', (name) => {
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

const FIRST_KIND = Object.keys(kinds)[0]!;

/**
 * Those that take minutes to start, stop or wait, or differ from others in little: the full run has them, with
 * TOPOLOGIES=long, and on servers all kinds but the first. It may name one.
 */
const LONG = [
  'one Redis, strictly fair',
  'one Redis, through a client with a keyPrefix',
  'one Redis, in db 5',
  'one Redis, replicated and confirmed',
  'a primary behind Sentinels',
  'a cluster',
];

/** Those in which another server than the usual may answer otherwise: TOPOLOGIES=servers. */
const SERVERS = ['one Redis', 'one Redis, strictly fair', 'a cluster', 'a quorum of three'];

/** Whether this run tests a topology. That ioredis is version 5 changes nothing in memory, nor how processes share their turns. */
export function isOfInterest(topology: string, kind = FIRST_KIND): boolean {
  const { FULL, TOPOLOGIES } = process.env;
  if (TOPOLOGIES === 'servers') return SERVERS.includes(topology);
  if (TOPOLOGIES && TOPOLOGIES !== 'long') return topology === TOPOLOGIES;
  const isLong = LONG.includes(topology) || (kind !== FIRST_KIND && !topology.startsWith('memory'));
  if (isLong ? !FULL && TOPOLOGIES !== 'long' : TOPOLOGIES === 'long') return false;
  return process.env['IOREDIS'] !== '5' || !/memory|strictly fair/.test(topology);
}
