import { type Adapter, ADAPTERS, ORDERS, OURS, PEERS, RAW } from './adapters/index.js';
import type { Effort } from './effort.js';
import { kindOf } from './kinds/index.js';
import { measure, type Site } from './rounds.js';
import type { Sweep } from './scale/sweeps.js';
import { type Summary, summary } from './summary.js';
import type { Workload } from './workloads/workload.js';

/** A short round that tells which peer is the best; where rounds are long, there is none. */
const PROBE: Effort = { rounds: 1, longRounds: 0, warmUp: 50, window: 150 };

/** Which variants a quick run measures: ours (where rounds are long, without other options), raw, and the best peer, known from the published run or by a probe. */
export async function quickSelection(
  workload: Workload,
  earlier: readonly Summary[],
  site: Site,
): Promise<readonly Adapter[]> {
  const known = earlier.find((one) => one.workload.name === workload.name);
  const { bestPeer } = known ?? summary(workload, await measure(workload, PEERS, site, PROBE));
  const ours = kindOf(workload).long ? ORDERS : OURS;
  return ADAPTERS.filter(
    (adapter) => adapter === RAW || ours.includes(adapter) || adapter.name === bestPeer,
  );
}

/** Ours as it comes, in strict order too where order matters, raw where it can, and the best peer of a workload that has been measured. */
export function growthSelection(
  { like, ordered }: Sweep,
  measured: readonly Summary[],
): readonly Adapter[] {
  const bestPeer = measured.find(({ workload }) => workload.name === like)?.bestPeer;
  const chosen = ordered ? ORDERS : [RAW, OURS[0]];
  return ADAPTERS.filter((adapter) => chosen.includes(adapter) || adapter.name === bestPeer);
}

/** What a quick run leaves out of a table. */
export function leftOut(chosen: readonly Adapter[]): string {
  const names = ADAPTERS.filter((adapter) => !chosen.includes(adapter)).map(({ name }) => name);
  return `Left out: ${names.join(', ')}.`;
}
