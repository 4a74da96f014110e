import type { Workload } from './workload.js';

const PAUSES = { 'no think time': 0, '10 ms think time': 10 };

/** Four replicas want one lock for 1 ms each: how long it lies idle between two holders, and who gets it. */
export const hotKeyProcesses: Workload[] = Object.entries(PAUSES).map(([pause, think]) => ({
  name: `hot key, 4 processes × 4 callers, 1 ms section, ${pause}`,
  processes: 4,
  callers: 4,
  contended: true,
  section: 1,
  think,
}));
