import { hotKeyOneProcess } from './hot-key-one-process.js';
import { hotKeyProcesses } from './hot-key-processes.js';
import { lineUps } from './line-up.js';
import { quorum } from './quorum.js';
import { renewals } from './renewals.js';
import { uncontended } from './uncontended.js';
import type { Workload } from './workload.js';

/** A table each. */
export const WORKLOADS: readonly Workload[] = [
  ...uncontended,
  ...hotKeyOneProcess,
  ...hotKeyProcesses,
  ...lineUps,
  ...renewals,
  ...quorum,
];
