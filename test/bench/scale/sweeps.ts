import { hotKey } from '../workloads/hot-key-processes.js';
import { drained } from '../workloads/line-up.js';
import { renewed } from '../workloads/renewals.js';
import { newKeys } from '../workloads/uncontended.js';
import type { Workload } from '../workloads/workload.js';

/** One workload at growing sizes, and the figures whose growth is of interest. */
export interface Sweep {
  readonly name: string;
  /** A quick run leaves it out. */
  readonly thorough: true;
  /** What grows. */
  readonly unit: string;
  readonly sizes: readonly number[];
  workload(size: number): Workload;
  /** The size is a round trip that the network adds, in ms. */
  readonly network?: true;
  /** Whether the order of waiters matters: then strict order is shown too. */
  readonly ordered: boolean;
  readonly figures: Readonly<Record<string, string>>;
  /** The workload whose best peer is shown beside ours. */
  readonly like: string;
}

const ROUND_TRIPS = [0, 0.2, 1, 5];

export const SWEEPS: readonly Sweep[] = [
  {
    name: 'cost over leases',
    thorough: true,
    unit: 'leases of one process, ttl 10 s',
    sizes: [10, 1_000, 10_000, 100_000],
    workload: (leases) => ({ ...renewed(leases), ttl: 10_000, held: 9_000 }),
    ordered: false,
    figures: { cpuShare: 'client CPU %', scriptsPerSecond: 'commands/s' },
    like: renewed(10_000).name,
  },
  {
    name: 'cost over waiters',
    thorough: true,
    unit: 'waiters in 2 processes',
    sizes: [10, 100, 1_000, 10_000],
    workload: (waiters) => ({ ...drained(waiters), held: 500 }),
    ordered: true,
    figures: { perSecond: 'served/s', commandsWaiting: 'commands while waiting' },
    like: drained(5_000).name,
  },
  {
    name: 'hot key over processes',
    thorough: true,
    unit: 'processes × 4 callers, 1 ms section',
    sizes: [1, 2, 4, 8],
    workload: (processes) => hotKey(processes, 'no think time', 0),
    ordered: true,
    figures: { perSecond: 'sections/s', commandsPerSection: 'commands/section' },
    like: hotKey(4, 'no think time', 0).name,
  },
  {
    name: 'uncontended over the network',
    thorough: true,
    unit: 'ms added to a round trip',
    sizes: ROUND_TRIPS,
    workload: () => newKeys(1),
    network: true,
    ordered: false,
    figures: { cycleP50: 'cycle p50 ms' },
    like: newKeys(1).name,
  },
  {
    name: 'hot key over the network',
    thorough: true,
    unit: 'ms added to a round trip',
    sizes: ROUND_TRIPS,
    workload: () => hotKey(2, 'no think time', 0),
    network: true,
    ordered: true,
    figures: { perSecond: 'sections/s', handOffP50: 'hand-off p50 ms' },
    like: hotKey(4, 'no think time', 0).name,
  },
];
