import { hotKeyInMemory, hotKeyOneProcess } from './hot-key-one-process.js';
import { hotKeyProcesses } from './hot-key-processes.js';
import { lineUps } from './line-up.js';
import { memory } from './memory.js';
import { quorum } from './quorum.js';
import { renewals } from './renewals.js';
import { uncontended } from './uncontended.js';
import type { Effort } from '../effort.js';
import type { Workload } from './workload.js';

/** A table each. */
export const WORKLOADS: readonly Workload[] = [
  ...uncontended,
  ...hotKeyOneProcess,
  ...hotKeyInMemory,
  ...hotKeyProcesses,
  ...lineUps,
  ...renewals,
  memory,
  ...quorum,
];

/** A workload as large as the effort lets it be. */
export function sized(workload: Workload, { keys }: Effort): Workload {
  return workload.kind === 'memory' && keys !== undefined ? { ...workload, keys } : workload;
}
