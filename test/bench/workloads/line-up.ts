import type { LineUpWorkload } from './workload.js';

/** Waiters in two processes behind a holder in a third. */
export function drained(waiters: number): LineUpWorkload {
  return {
    kind: 'line-up',
    name: `${waiters.toLocaleString('en')} waiters in 2 processes, then all served`,
    processes: 3,
    waiters,
    held: 1_000,
    bound: 3_000,
  };
}

/** What it costs to wait for long, and how soon a line is worked off. */
export const lineUps: LineUpWorkload[] = [
  drained(5_000),
  {
    kind: 'line-up',
    name: '100 waiters behind a lock held 5 s',
    processes: 2,
    rounds: 2,
    thorough: true,
    waiters: 100,
    held: 5_000,
    bound: 1_000,
  },
];
