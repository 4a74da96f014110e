import type { TurnsWorkload } from './workload.js';

const PAUSES = { 'no think time': 0, '10 ms think time': 10 };

/** Replicas of four callers want one lock for 1 ms each: how long it lies idle between two holders, and who gets it. */
export function hotKey(processes: number, pause: string, think: number): TurnsWorkload {
  return {
    kind: 'turns',
    name: `hot key, ${processes} processes × 4 callers, 1 ms section, ${pause}`,
    processes,
    callers: 4,
    contended: true,
    section: 1,
    think,
    ...(processes > 1 && {
      floor: {
        kind: 'message',
        name: 'floor: PUBLISH to another process + one script call',
        processes,
        rest: 1,
      },
    }),
  };
}

export const hotKeyProcesses = Object.entries(PAUSES).map(([pause, think]) =>
  hotKey(4, pause, think),
);
