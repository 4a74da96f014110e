import type { Workload } from '../workloads/workload.js';
import type { Kind, Part } from './kind.js';
import { lineUp } from './line-up.js';
import { memory } from './memory.js';
import { message } from './message.js';
import { renewal } from './renewal.js';
import { turns } from './turns.js';

export type { Kind, Part, Seat } from './kind.js';

const KINDS = { turns, 'line-up': lineUp, renewal, memory, message };

/** What to do with a workload. */
export function kindOf(workload: Workload): Kind<Workload, Part> {
  return KINDS[workload.kind] as unknown as Kind<Workload, Part>;
}
