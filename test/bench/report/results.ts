import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Effort } from '../effort.js';
import type { Overhead } from '../overhead/index.js';
import type { Footprint } from '../footprint.js';
import type { Outcome } from './goals.js';
import type { Growth } from '../scale/curves.js';
import type { Summary } from '../summary.js';
import type { Watched } from '../watched/rows.js';

/** Everything one run has measured. */
export interface Results {
  readonly at: string;
  readonly machine: Record<string, unknown>;
  readonly effort: Effort;
  readonly summaries: Summary[];
  readonly overheads: Overhead[];
  /** What runs of before 2026-11-23 have not. */
  readonly watched?: Watched[];
  readonly growths: Growth[];
  footprint?: Footprint;
  /** What was to be reached, and what came of it. */
  goals?: readonly Outcome[];
}

/** Where the last thorough run is shown. */
export const FOLDER = 'docs/bench';
export const PUBLISHED = `${FOLDER}/results.json`;

/** Undefined where there is none yet. */
export function readResults(file: string): Results | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : undefined;
}

export function writeResults(file: string, results: Results): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}

/** `earlier` with what `later` measured anew in its place, and what is new at the end. */
export function updated(earlier: Results | undefined, later: Results): Results {
  if (!earlier) return later;
  const anew = <T>(before: T[], after: T[], name: (one: T) => string): T[] => {
    const same = (one: T) => (other: T) => name(other) === name(one);
    const added = after.filter((one) => !before.some(same(one)));
    return [...before.map((one) => after.find(same(one)) ?? one), ...added];
  };
  return {
    ...later,
    summaries: anew(earlier.summaries, later.summaries, ({ workload }) => workload.name),
    overheads: anew(earlier.overheads, later.overheads, ({ name }) => name),
    watched: anew(earlier.watched ?? [], later.watched ?? [], ({ name }) => name),
    growths: anew(earlier.growths, later.growths, ({ name }) => name),
    ...((later.footprint ?? earlier.footprint) && {
      footprint: later.footprint ?? earlier.footprint!,
    }),
  };
}
