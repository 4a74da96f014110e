import { FAULTS } from './faults.js';
import type { Outcome } from './run-history.js';

interface Row {
  histories: number;
  operations: number;
  sections: number;
  violations: number;
  /** In ms. */
  recovery: number;
}

/** The page of results, and what stands in its last line. */
export function resultsPage(
  outcomes: readonly Outcome[],
  wanted: readonly number[],
): { page: string; violations: number; total: string } {
  const rows = FAULTS.map(({ name }) => [name, rowOf(name, outcomes)] as const);
  const sum = (of: (outcome: Outcome) => number): number =>
    outcomes.reduce((all, outcome) => all + of(outcome), 0);
  const violations = sum((outcome) => outcome.violations.length);
  const hours = sum(({ seconds }) => seconds) / 3_600;
  const total =
    `${number(outcomes.length)} of ${number(wanted.length)} histories from seed ${wanted[0]} on, ${number(sum((each) => each.operations))} operations, ` +
    `${number(sum((each) => each.sections))} grants, ${violations} violations, ${hours.toFixed(1)} hours`;
  const lines = rows
    .filter(([, { histories }]) => histories > 0)
    .map(
      ([name, { histories, operations, sections, violations: wrong, recovery }]) =>
        `| ${name} | ${number(histories)} | ${number(operations)} | ${number(sections)} | ${wrong} | ${(recovery / 1_000).toFixed(1)} s |`,
    );
  const places = countsOf(outcomes.map(({ plan }) => plan.place));
  const orders = countsOf(outcomes.map(({ plan }) => plan.fairness));
  const clients = countsOf(outcomes.map(({ plan }) => `ioredis ${plan.ioredis}`));
  const page = [
    '# Histories',
    '',
    '<!-- Written by `npm run histories`. -->',
    '',
    'In each history three processes lock in all ways at once, while this goes wrong. A history in which two kinds of faults strike counts for both. Recovery: the time from the end of a fault until each process has held a lock again, and each lock was granted ten times.',
    '',
    '| fault | histories | operations | grants | violations | longest recovery |',
    '|---|---:|---:|---:|---:|---:|',
    ...lines,
    '',
    `In all: ${total}.`,
    '',
    ...(outcomes.length > 0
      ? [`By place: ${places}.`, '', `By order: ${orders}. By client: ${clients}.`, '']
      : []),
  ].join('\n');
  return { page, violations, total };
}

function rowOf(name: string, outcomes: readonly Outcome[]): Row {
  const row: Row = { histories: 0, operations: 0, sections: 0, violations: 0, recovery: 0 };
  for (const { plan, operations, sections, violations, recoveries } of outcomes) {
    if (!plan.strokes.includes(name)) continue;
    row.histories += 1;
    row.operations += operations;
    row.sections += sections;
    row.violations += violations.length;
    for (const { fault, ms } of recoveries) {
      if (fault === name) row.recovery = Math.max(row.recovery, ms);
    }
  }
  return row;
}

function countsOf(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${word} ${number(count)}`).join(', ');
}

function number(value: number): string {
  return value.toLocaleString('en');
}
