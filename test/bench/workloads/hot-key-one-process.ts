import type { TurnsWorkload } from './workload.js';

function hotKey(name: string, callers: number): TurnsWorkload {
  return {
    kind: 'turns',
    name,
    processes: 1,
    callers,
    contended: true,
    section: 0,
    think: 0,
  };
}

/** Callers of one process on one key, with nothing to do under it: the cost of a turn. */
export const hotKeyOneProcess: TurnsWorkload[] = [8, 64, 512].map((callers) =>
  hotKey(`hot key, one process × ${callers} callers`, callers),
);

/** The same where no server is: what a lock costs an application of one process, and a test. */
export const hotKeyInMemory: TurnsWorkload[] = [1, 16].map((callers) => ({
  ...hotKey(`in memory, hot key, ${callers} at a time`, callers),
  inMemory: true,
}));
