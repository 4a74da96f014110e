import type { Row, Summary } from './summary.js';

type Column = readonly [title: string, value: (row: Row) => number | undefined];

const COMMON: Column[] = [
  ['sections/s', ({ figures }) => figures?.perSecond],
  ['acquire p50 ms', ({ figures }) => figures?.acquireP50],
  ['p99', ({ figures }) => figures?.acquireP99],
];
const UNCONTENDED: Column[] = [
  ['× raw', ({ toRaw }) => toRaw],
  ['× best peer', ({ toBestPeer }) => toBestPeer],
];
const CONTENDED: Column[] = [
  ['× best peer', ({ toBestPeer }) => toBestPeer],
  ['hand-off p50 ms', ({ figures }) => figures?.handOffP50],
  ['p99', ({ figures }) => figures?.handOffP99],
  ['owner changes/s', ({ figures }) => figures?.changesPerSecond],
  ['longest wait ms', ({ figures }) => figures?.longestWait],
  ['Jain', ({ figures }) => figures?.fairness],
  ['gave up', ({ figures }) => figures?.gaveUp],
];
const LAST: Column[] = [
  ['commands/section', ({ figures }) => figures?.commandsPerSection],
  ['violations', ({ figures }) => figures?.violations],
];

/** A summary as a Markdown table. */
export function table({ workload, rows }: Summary): string {
  const columns = [...COMMON, ...(workload.contended ? CONTENDED : UNCONTENDED), ...LAST];
  const cells = [
    ['variant', ...columns.map(([title]) => title)],
    ...rows.map((row) => [
      row.variant,
      ...columns.map(([, value]) => (row.figures ? text(value(row)) : 'n/a')),
    ]),
  ];
  const widths = cells[0]!.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  const lines = cells.map((row) => {
    const padded = row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!),
    );
    return `| ${padded.join(' | ')} |`;
  });
  const rule = widths.map((width, at) =>
    at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  lines.splice(1, 0, `| ${rule.join(' | ')} |`);
  return `### ${workload.name}\n\n${lines.join('\n')}\n`;
}

/** Three significant digits; a dash for what was not seen. */
function text(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  if (value >= 1_000)
    return Math.round(value)
      .toString()
      .replaceAll(/\B(?=(\d{3})+$)/g, ' ');
  return value === 0 ? '0' : String(Number(value.toPrecision(3)));
}
