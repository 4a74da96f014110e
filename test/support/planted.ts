import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SHORT_PATIENCE } from './bounds.js';
import type { Check, Contract } from './contract.js';
import { kinds } from './kinds.js';
import type { Plant } from './plant.js';
import { type Topology, topologies } from './topologies.js';

/** A mistake, and what it breaks. */
export interface Fault {
  readonly plant: Plant;
  /** The contract and the first words of the sentences that must not hold any more. */
  readonly brokenSentences: readonly (readonly [Contract, string])[];
}

/**
 * Tests that each of these mistakes breaks its sentences, and that those hold without it. Where it shows: a script only on
 * Redis, a mistake around it also in memory, which is faster.
 */
export function planted(
  where: 'one Redis' | 'memory',
  faults: Readonly<Record<string, Fault>>,
): void {
  let topology: Topology;
  beforeAll(async () => {
    topology = await topologies[where]!();
  });
  afterAll(() => topology.stop());

  /** What is found without a mistake, once for each sentence. */
  const sound = new Map<Check, Promise<unknown>>();

  describe.each(Object.entries(faults))('%s', (_name, { plant, brokenSentences }) => {
    const broken = brokenSentences.map(([contract, beginning]) => sentence(contract, beginning));
    it.each(broken)('breaks "%s"', async (_sentence, check) => {
      if (!sound.has(check)) sound.set(check, failure(check, topology));
      expect(await sound.get(check)).toBeUndefined();
      const found = await failure(check, topology, plant);
      if (!isBrokenPromise(found)) throw new Error(`It holds all the same, but ${String(found)}`);
    });
  });
}

function sentence(contract: Contract, beginning: string): [string, Check] {
  const found = Object.entries(contract).filter(([text]) => text.startsWith(beginning));
  if (found.length !== 1) throw new Error(`${found.length} sentences begin with "${beginning}".`);
  return found[0]!;
}

/** What the check says of the library with the mistake in it; undefined if it finds nothing. */
async function failure(check: Check, topology: Topology, plant: Plant = {}): Promise<unknown> {
  const undo = plant.sow?.();
  const world = await topology.world(kinds['lock']!, plant.wrap);
  if (plant.sow || plant.wrap) world.patience = SHORT_PATIENCE;
  try {
    await check(world);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    undo?.();
    await world.close().catch(() => {});
  }
}

/** An expectation that was not met, not a mistake that only breaks a script. */
function isBrokenPromise(found: unknown): boolean {
  if (!(found instanceof Error)) return false;
  if (found.message.startsWith('expect(')) return true;
  if ('code' in found) return ['LOCK_NOT_ACQUIRED', 'LEASE_LOST'].includes(String(found.code));
  return /history is wrong|has no end|did not happen|was not free|was no queue/.test(found.message);
}
