import { writeFileSync } from 'node:fs';
import type { Results } from '../report/results.js';
import type { Growth } from '../scale/curves.js';
import type { Summary } from '../summary.js';
import { hotKeyOneProcess } from '../workloads/hot-key-one-process.js';
import { hotKeyProcesses } from '../workloads/hot-key-processes.js';
import { type BarChart, barChart } from './bar-chart.js';
import { colours, isOurs, library } from './colours.js';
import { type LineCharts, lineCharts } from './line-charts.js';

/** Draws what is published, one SVG file a plot. */
export function drawPlots({ summaries, growths }: Results, folder: string): void {
  const named = (name: string): Summary =>
    summaries.find(({ workload }) => workload.name === name)!;
  const processes = named(hotKeyProcesses.at(-1)!.name);
  const callers = hotKeyOneProcess.map(({ callers: count, name }) => [count, named(name)] as const);
  const plots: Record<string, string> = {
    'hand-off-latency': barChart(
      bars(
        processes,
        'handOffP50',
        'Hand-off: from one holder’s release to the next one’s lock, p50 in ms',
      ),
    ),
    'hand-off-between-processes': barChart(
      bars(processes, 'acrossP50', 'Hand-off to a caller of another process, p50 in ms'),
    ),
    'commands-per-section': barChart(
      bars(processes, 'commandsPerSection', 'Commands sent to Redis for one critical section'),
    ),
    throughput: lineCharts(
      over(callers, 'perSecond', 'Sections a second on one hot key, one process'),
    ),
    fairness: lineCharts(
      over(callers, 'fairness', 'Fairness (Jain’s index: 1 when all callers had the same)'),
    ),
    ...Object.fromEntries(
      growths.map((growth) => [growth.name.replaceAll(' ', '-'), lineCharts(grown(growth))]),
    ),
  };
  for (const [name, svg] of Object.entries(plots)) writeFileSync(`${folder}/${name}.svg`, svg);
}

/** All variants at one figure; the floor is a mark. */
function bars({ workload, rows }: Summary, figure: string, title: string): BarChart {
  const { name: floorName } = (workload.kind === 'turns' && workload.floor) || {};
  const measured = rows.filter(
    ({ variant, figures }) => variant !== floorName && Number.isFinite(figures[figure]),
  );
  const floor = rows.find(({ variant }) => variant === floorName)?.figures[figure];
  const colour = colours(measured.map(({ variant }) => variant));
  return {
    title,
    subtitle: workload.name,
    mark: floor === undefined ? undefined : { value: floor, label: floorName! },
    bars: measured.map(({ variant, figures }) => ({
      label: variant,
      value: figures[figure]!,
      colour: colour(variant),
    })),
  };
}

/** Ours, and each peer's better configuration, over the number of callers. */
function over(
  callers: readonly (readonly [number, Summary])[],
  figure: string,
  title: string,
): LineCharts {
  const curves = [...new Set(callers.flatMap(([, { rows }]) => rows.map(({ variant }) => variant)))]
    .map((label) => ({
      label,
      values: new Map(
        callers.flatMap(([count, { rows }]) => {
          const value = rows.find(({ variant }) => variant === label)?.figures[figure];
          return value === undefined || !Number.isFinite(value) ? [] : [[count, value] as const];
        }),
      ),
    }))
    .filter(({ values }) => values.size > 0);
  const last = ({ values }: (typeof curves)[number]): number => [...values.values()].at(-1)!;
  const shown = curves.filter(
    (curve) =>
      isOurs(curve.label) ||
      curves.every(
        (other) => library(other.label) !== library(curve.label) || last(other) <= last(curve),
      ),
  );
  const colour = colours(shown.map(({ label }) => label));
  const lines = shown.map((curve) => ({ ...curve, colour: colour(curve.label) }));
  return {
    title,
    unit: 'callers',
    charts: [{ title: 'ours, and the better configuration of each peer', lines }],
  };
}

function grown({ name, unit, titles, curves }: Growth): LineCharts {
  const colour = colours(curves.map(({ variant }) => variant));
  return {
    title: `${name[0]!.toUpperCase()}${name.slice(1)}`,
    unit,
    charts: Object.entries(titles).map(([figure, title]) => ({
      title,
      lines: curves.map(({ variant, points }) => ({
        label: variant,
        colour: colour(variant),
        values: new Map(
          points.flatMap(({ size, figures }) =>
            Number.isFinite(figures[figure]) ? [[size, figures[figure]!] as const] : [],
          ),
        ),
      })),
    })),
  };
}
