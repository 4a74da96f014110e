import { readFileSync, writeFileSync } from 'node:fs';
import { drawPlots } from '../plots/index.js';
import { footprintTable } from './footprint-table.js';
import { goalsTable, outcomes } from './goals.js';
import { growthTable } from './growth-table.js';
import { overheadTable } from './overhead-table.js';
import { withHeadline } from './headline.js';
import { FOLDER, PUBLISHED, type Results, writeResults } from './results.js';
import { summaryTable } from './summary-table.js';
import { watchedTable } from './watched-table.js';

/** The page that quotes the figures. */
const PAGE = 'docs/performance.md';

/** Writes what the README shows and links to: the figures, their tables, their plots. */
export function publish(results: Results): void {
  writeResults(PUBLISHED, { ...results, goals: outcomes(results) });
  writeFileSync(`${FOLDER}/results.md`, tables(results));
  writeFileSync(PAGE, withHeadline(readFileSync(PAGE, 'utf8'), results));
  drawPlots(results, FOLDER);
}

function tables(results: Results): string {
  const { at, machine, effort, summaries, overheads, watched = [], growths, footprint } = results;
  const parts = [
    '# All figures of the last thorough run',
    `Written by \`npm run bench\`, ${at.slice(0, 10)}; the plots beside this file are drawn from [results.json](results.json).`,
    `Medians of ${effort.rounds} interleaved rounds, ${effort.longRounds} where a round takes seconds (ratios are medians of the ratios within each round); gave up, lost and violations are totals.`,
    Object.entries(machine)
      .map(([name, value]) => `- ${name}: ${said(value)}`)
      .join('\n'),
    goalsTable(results, true),
    '## Tables',
    ...summaries.map(summaryTable),
    ...overheads.map(overheadTable),
    ...watched.map(watchedTable),
    ...(footprint ? [footprintTable(footprint)] : []),
    ...growths.map(growthTable),
  ];
  return `${parts.map((part) => narrow(part.trim())).join('\n\n')}\n`;
}

/** Without what aligns columns: this is packed, and read on a page. */
function narrow(text: string): string {
  return text.replaceAll(/ {2,}/g, ' ').replaceAll(/-{4,}/g, '---');
}

function said(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, version]) => `${name} ${String(version)}`)
    .join(', ');
}
