import {
  type Adapter,
  ADAPTERS,
  FOR_ONE_ALONE,
  GATHERED,
  IN_MEMORY,
  MAIN,
  ON_BOTH,
  ORDERS,
  PEERS,
  RAW,
} from './adapters/index.js';
import type { Effort } from './effort.js';
import { kindOf } from './kinds/index.js';
import { measure, type Site } from './rounds.js';
import type { Sweep } from './scale/sweeps.js';
import { type Summary, summary } from './summary.js';
import type { Workload } from './workloads/workload.js';

/** A short round that tells which peer is the best; where rounds are long, there is none. */
const PROBE: Effort = { rounds: 1, longRounds: 0, warmUp: 50, window: 150, pairs: 0 };

const BARE: readonly Adapter[] = [...Object.values(RAW), ...Object.values(GATHERED)];

/** The rows of a table; only the best peer of another workload where that says enough about peers. */
export function selection(workload: Workload, measured: readonly Summary[]): readonly Adapter[] {
  const { kind, servers = 1, like } = workload;
  if (kind === 'turns' && workload.inMemory) return IN_MEMORY;
  const contended = kind === 'line-up' || (kind === 'turns' && workload.contended);
  const able = ADAPTERS.filter((adapter) => contended || !adapter.asksOtherwise);
  const among = (chosen: readonly Adapter[]): readonly Adapter[] =>
    able.filter((adapter) => chosen.includes(adapter));
  if (kind === 'memory') return among([RAW[6], ...ORDERS, ...bestPeer(like, measured)]);
  if (like !== undefined) return among([...BARE, ...ON_BOTH, ...bestPeer(like, measured)]);
  if (kind === 'turns' && !contended && servers === 1) return able;
  const everywhere = ADAPTERS.filter((adapter) => !FOR_ONE_ALONE.includes(adapter));
  return among(kind === 'turns' && !contended ? [...everywhere, GATHERED[6]] : everywhere);
}

/** Which of them a quick run measures: raw, ours (with other options only where rounds are short), and the best peer, known from this run, the published one, or by a probe. */
export async function quickSelection(
  workload: Workload,
  measured: readonly Summary[],
  site: Site,
): Promise<readonly Adapter[]> {
  const all = selection(workload, measured);
  if (all === IN_MEMORY) return all;
  const peers = all.filter((adapter) => PEERS.includes(adapter));
  const [known] = bestPeer(workload.like ?? workload.name, measured).filter((one) =>
    peers.includes(one),
  );
  const best =
    known?.name ?? summary(workload, await measure(workload, peers, site, PROBE)).bestPeer;
  const ours = workload.like ? ORDERS.slice(0, 1) : kindOf(workload).long ? ORDERS : MAIN;
  return all.filter(
    (adapter) => adapter === RAW[6] || ours.includes(adapter) || adapter.name === best,
  );
}

/** Ours as it comes, in strict order too where order matters, raw where it can, and the best peer of a workload that has been measured. */
export function growthSelection(
  { like, ordered }: Sweep,
  measured: readonly Summary[],
): readonly Adapter[] {
  const chosen = [...(ordered ? ORDERS : [RAW[6], ORDERS[0]]), ...bestPeer(like, measured)];
  return ADAPTERS.filter((adapter) => chosen.includes(adapter));
}

function bestPeer(like: string | undefined, measured: readonly Summary[]): readonly Adapter[] {
  const name = measured.find(({ workload }) => workload.name === like)?.bestPeer;
  return PEERS.filter((adapter) => adapter.name === name);
}

/** What a quick run leaves out of a table. */
export function leftOut(chosen: readonly Adapter[], all: readonly Adapter[]): string {
  const names = all.filter((adapter) => !chosen.includes(adapter)).map(({ name }) => name);
  return names.length > 0 ? `Left out: ${names.join(', ')}.` : '';
}
