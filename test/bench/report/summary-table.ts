import type { Reference } from '../measure/figures.js';
import type { Row, Summary } from '../summary.js';
import type { Workload } from '../workloads/workload.js';
import { number, table } from './table.js';

const VERSUS: Record<Reference, string> = {
  raw: '× raw',
  gathered: '× with autopipelining',
  peer: '× best peer',
  floor: '× floor',
};

/** A summary as a Markdown table under its name. */
export function summaryTable({ workload, measures, rows }: Summary): string {
  const columns = measures.flatMap(({ figure, title, versus = [] }) => [
    { title, value: ({ figures }: Row) => figures[figure] },
    ...versus.map((reference) => ({
      title: VERSUS[reference],
      value: ({ ratios }: Row) => ratios[figure]?.[reference],
    })),
  ]);
  const lines = rows.map((row) =>
    row.refused === undefined
      ? [row.variant, ...columns.map(({ value }) => number(value(row)))]
      : [row.variant, ...columns.map(() => 'n/a')],
  );
  const head = ['variant', ...columns.map(({ title }) => title)];
  return `### ${workload.name}\n\n${table(head, lines)}${reasons(rows)}${fewer(workload)}${disturbance(rows)}`;
}

/** Why rows have no figures. */
function reasons(rows: readonly Row[]): string {
  const refused = rows.filter((row) => row.refused !== undefined);
  return [...new Set(refused.map((row) => row.refused))]
    .map((reason) => {
      const those = refused.filter((row) => row.refused === reason);
      return `\nn/a, ${reason}: ${those.map(({ variant }) => variant).join(', ')}.\n`;
    })
    .join('');
}

function fewer({ rounds }: Workload): string {
  return rounds === undefined ? '' : `\nRounds: ${rounds} at most.\n`;
}

/** How busy others kept the machine, where that was more than a little. */
function disturbance(rows: readonly Row[]): string {
  const most = Math.max(...rows.map(({ figures }) => figures['others'] ?? 0));
  return most > 0.05
    ? `\nOthers used up to ${Math.round(most * 100)} % of the machine meanwhile.\n`
    : '';
}
