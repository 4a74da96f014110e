import { hotKeyOneProcess } from './hot-key-one-process.js';
import { hotKeyProcesses } from './hot-key-processes.js';
import { uncontended } from './uncontended.js';

export type { Workload } from './workload.js';

export const WORKLOADS = [...uncontended, ...hotKeyOneProcess, ...hotKeyProcesses];
