import { hotKey } from '../workloads/hot-key-processes.js';
import { drained } from '../workloads/line-up.js';
import { renewed } from '../workloads/renewals.js';
import { uncontended } from '../workloads/uncontended.js';
import type { Workload } from '../workloads/workload.js';

/** One workload at growing sizes, and the figures whose growth is of interest. */
export interface Sweep {
  readonly name: string;
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

const TENS = [1, 10, 100, 1_000, 10_000];
const ROUND_TRIPS = [0, 0.2, 1, 5];

export const SWEEPS: readonly Sweep[] = [
  {
    name: 'cost over leases',
    unit: 'leases of one process, ttl 10 s',
    sizes: [...TENS, 100_000],
    workload: (leases) => ({ ...renewed(leases), ttl: 10_000, held: 9_000 }),
    ordered: false,
    figures: { cpuShare: 'client CPU %', scriptsPerSecond: 'commands/s' },
    like: renewed(10_000).name,
  },
  {
    name: 'cost over waiters',
    unit: 'waiters in 2 processes',
    sizes: TENS,
    workload: (waiters) => ({ ...drained(waiters), held: 500 }),
    ordered: true,
    figures: { perSecond: 'served/s', commandsWaiting: 'commands while waiting' },
    like: drained(5_000).name,
  },
  {
    name: 'hot key over processes',
    unit: 'processes × 4 callers, 1 ms section',
    sizes: [1, 2, 4, 8],
    workload: (processes) => hotKey(processes, 'no think time', 0),
    ordered: true,
    figures: { perSecond: 'sections/s', commandsPerSection: 'commands/section' },
    like: hotKey(4, 'no think time', 0).name,
  },
  {
    name: 'uncontended over the network',
    unit: 'ms added to a round trip',
    sizes: ROUND_TRIPS,
    workload: () => uncontended[0]!,
    network: true,
    ordered: false,
    figures: { cycleP50: 'cycle p50 ms' },
    like: uncontended[0]!.name,
  },
  {
    name: 'hot key over the network',
    unit: 'ms added to a round trip',
    sizes: ROUND_TRIPS,
    workload: () => hotKey(2, 'no think time', 0),
    network: true,
    ordered: true,
    figures: { perSecond: 'sections/s', handOffP50: 'hand-off p50 ms' },
    like: hotKey(4, 'no think time', 0).name,
  },
];
