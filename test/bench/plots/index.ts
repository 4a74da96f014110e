import { writeFileSync } from 'node:fs';
import type { Results } from '../report/results.js';
import type { Growth } from '../scale/curves.js';
import type { Summary } from '../summary.js';
import { hotKeyOneProcess } from '../workloads/hot-key-one-process.js';
import { hotKeyProcesses } from '../workloads/hot-key-processes.js';
import { renewals } from '../workloads/renewals.js';
import { type BarChart, barChart } from './bar-chart.js';
import { colours, isOurs, library } from './colours.js';
import { type Line, type LineCharts, lineCharts } from './line-charts.js';
import { uncontendedPlots } from './uncontended.js';

/** Draws what is published, one SVG file a plot; without those whose tables were not measured. */
export function drawPlots({ summaries, growths }: Results, folder: string): void {
  const named = (name: string): Summary[] =>
    summaries.filter(({ workload }) => workload.name === name);
  const byBars = (name: string, file: string, figure: string, title: string): [string, string][] =>
    named(name).map((one) => [file, barChart(bars(one, figure, title))]);
  const processes = hotKeyProcesses.at(-1)!.name;
  const callers = hotKeyOneProcess.flatMap(({ callers: count, name }) =>
    named(name).map((one) => [count, one] as const),
  );
  const plots: [string, string][] = [
    ...uncontendedPlots(summaries).map(([name, chart]): [string, string] => [
      name,
      lineCharts(chart),
    ]),
    ...byBars(
      processes,
      'hand-off-between-processes',
      'acrossP50',
      'Hand-off to a caller of another process, p50 in ms',
    ),
    ...byBars(
      processes,
      'commands-per-section',
      'commandsPerSection',
      'Commands sent to Redis for one critical section',
    ),
    ...byBars(
      renewals[0]!.name,
      'renewal',
      'cpuShare',
      'Renewal: processor time of the client, % of a core',
    ),
    ['throughput', lineCharts(overCallers(callers))],
    ...growths.map((growth): [string, string] => [
      growth.name.replaceAll(' ', '-'),
      lineCharts(grown(growth)),
    ]),
  ];
  for (const [name, svg] of plots) writeFileSync(`${folder}/${name}.svg`, svg);
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

/** Ours, and the better configuration of each peer, over the number of callers. */
function overCallers(callers: readonly (readonly [number, Summary])[]): LineCharts {
  return {
    title: 'One hot key, one process',
    unit: 'callers',
    charts: [
      { title: 'sections/s', lines: over(callers, 'perSecond') },
      {
        title: 'fairness (Jain’s index: 1 when all had the same)',
        lines: over(callers, 'fairness'),
      },
    ],
  };
}

function over(callers: readonly (readonly [number, Summary])[], figure: string): Line[] {
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
  return shown.map((curve) => ({ ...curve, colour: colour(curve.label) }));
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
