import type { TurnsWorkload } from './workload.js';

/** Callers of one process on one key, with nothing to do under it: the cost of a turn. */
export const hotKeyOneProcess: TurnsWorkload[] = [8, 64, 512].map((callers) => ({
  kind: 'turns',
  name: `hot key, one process × ${callers} callers`,
  processes: 1,
  callers,
  contended: true,
  section: 0,
  think: 0,
}));
