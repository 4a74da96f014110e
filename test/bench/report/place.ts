import type { Reference } from '../measure/figures.js';
import type { Row, Summary } from '../summary.js';
import type { Workload } from '../workloads/workload.js';
import type { Results } from './results.js';

/** Where a figure of the tables stands, or how many times a reference it is. */
export interface Place {
  readonly workload: Workload;
  readonly variant: string;
  readonly figure: string;
  readonly versus?: Reference;
}

/** Undefined where it was not measured. */
export function figureAt(results: Results, place: Place): number | undefined {
  const { variant } = place;
  const row = tableOf(results, place.workload)?.rows.find((one) => one.variant === variant);
  return row && figureOf(row, place);
}

/** The table of a workload, if it was measured. */
export function tableOf({ summaries }: Results, { name }: Workload): Summary | undefined {
  return summaries.find(({ workload }) => workload.name === name);
}

/** As JSON keeps it: what was not seen is null there. */
export function figureOf(
  { figures, ratios, refused }: Row,
  { figure, versus }: Pick<Place, 'figure' | 'versus'>,
): number | undefined {
  if (refused !== undefined) return undefined;
  const value = versus === undefined ? figures[figure] : ratios[figure]?.[versus];
  return Number.isFinite(value) ? value : undefined;
}
