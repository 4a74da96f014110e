import { TTL } from '../app.module.js';
import type { Crash } from './crash.js';
import type { Trial } from './trial.js';

const count = (value: number): string => Math.round(value).toLocaleString('en-US');
const ms = (value: number | undefined): string => `${(value ?? 0).toFixed(1)} ms`;

const ROWS: readonly (readonly [title: string, cell: (trial: Trial) => string])[] = [
  ['', ({ workload }) => workload],
  ['', ({ locked }) => (locked ? 'with the lock' : 'without it')],
  ['requests', ({ requests }) => count(requests)],
  ['expected balance', ({ expected }) => count(expected)],
  ['actual balance', ({ actual }) => count(actual)],
  ['wrong accounts', ({ wrongAccounts }) => count(wrongAccounts)],
  ['lost updates', ({ lostUpdates }) => count(lostUpdates)],
  ['failed requests', ({ failed }) => count(failed)],
  ['requests/s', ({ requests, seconds }) => count(requests / seconds)],
  ['wait p50', ({ waits }) => ms(waits[Math.floor(waits.length * 0.5)])],
  ['wait p99', ({ waits }) => ms(waits[Math.floor(waits.length * 0.99)])],
  ['share of replicas', ({ shares, requests }) => shares.map(percentOf(requests)).join(' / ')],
];

function percentOf(total: number): (part: number) => string {
  return (part) => `${Math.round((part / total) * 100)} %`;
}

/** One column for each trial; those of one workload side by side. */
export function table(trials: readonly Trial[]): string {
  const workloads = new Set(trials.map(({ workload }) => workload));
  const columns = [...workloads].flatMap((name) => trials.filter((t) => t.workload === name));
  const rows = ROWS.map(([title, cell]) => [title, ...columns.map(cell)]);
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(([title, ...cells]) =>
      [title!.padEnd(widths[0]!), ...cells.map((cell, i) => cell.padStart(widths[i + 1]!))].join(
        '   ',
      ),
    )
    .join('\n');
}

export function crashReport({ servedAfter }: Crash): string {
  return servedAfter === undefined
    ? 'Its account was not served again.'
    : `Its account was served again after ${count(servedAfter)} ms (ttl ${count(TTL)} ms).`;
}

export function summary(trials: readonly Trial[]): string {
  const lost = (locked: boolean): string =>
    count(
      trials
        .filter((trial) => trial.locked === locked)
        .reduce((sum, { lostUpdates }) => sum + lostUpdates, 0),
    );
  return `Lost updates: ${lost(false)} without the lock, ${lost(true)} with it.`;
}
