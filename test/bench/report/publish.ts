import { writeFileSync } from 'node:fs';
import { drawPlots } from '../plots/index.js';
import { growthTable } from './growth-table.js';
import { overheadTable } from './overhead-table.js';
import { FOLDER, PUBLISHED, type Results, writeResults } from './results.js';
import { summaryTable } from './summary-table.js';

/** Writes what the README shows and links to: the figures, their tables, their plots. */
export function publish(results: Results): void {
  writeResults(PUBLISHED, results);
  writeFileSync(`${FOLDER}/results.md`, tables(results));
  drawPlots(results, FOLDER);
}

function tables({ at, machine, effort, summaries, overheads, growths }: Results): string {
  const parts = [
    '# All figures of the last thorough run',
    `Written by \`npm run bench\`, ${at.slice(0, 10)}; the plots beside this file are drawn from [results.json](results.json).`,
    `Medians of ${effort.rounds} interleaved rounds, ${effort.longRounds} where a round takes seconds (ratios are medians of the ratios within each round); gave up, lost and violations are totals.`,
    Object.entries(machine)
      .map(([name, value]) => `- ${name}: ${said(value)}`)
      .join('\n'),
    ...summaries.map(summaryTable),
    ...overheads.map(overheadTable),
    ...growths.map(growthTable),
  ];
  return `${parts.map((part) => part.trim()).join('\n\n')}\n`;
}

function said(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, version]) => `${name} ${String(version)}`)
    .join(', ');
}
