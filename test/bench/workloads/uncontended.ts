import type { TurnsWorkload } from './workload.js';

/** Acquire and release on keys of their own: what a lock costs that nobody else wants. */
export const uncontended: TurnsWorkload[] = [1, 16, 256].map((callers) => ({
  kind: 'turns',
  name: `uncontended, ${callers} at a time`,
  processes: 1,
  callers,
  contended: false,
  section: 0,
  think: 0,
}));
