import type { Summary } from '../summary.js';
import { OURS, RAW } from '../variants.js';
import { cold, newKeys, sameKeys } from '../workloads/uncontended.js';
import { colours } from './colours.js';
import type { LineChart, LineCharts } from './line-charts.js';

const AT_ONCE = [1, 16, 256] as const;
const WORKLOADS = {
  'new keys': newKeys,
  'the same keys again': sameKeys,
  'new keys, a fresh process, 250 ms': cold,
};
const COSTS = [
  { title: 'client, new keys', workload: newKeys, figure: 'cpuPerSection' },
  { title: 'client, the same keys again', workload: sameKeys, figure: 'cpuPerSection' },
  { title: 'Redis, new keys', workload: newKeys, figure: 'serverCpuPerSection' },
];

/** What a lock costs that nobody else wants, as times of raw ioredis of the same major, over how many are asked for at once. */
export function uncontendedPlots(summaries: readonly Summary[]): [string, LineCharts][] {
  const unit = 'at a time';
  const rates = Object.entries(WORKLOADS).map(([title, workload]) =>
    chart(title, summaries, workload, 'perSecond'),
  );
  const costs = COSTS.map(({ title, workload, figure }) =>
    chart(title, summaries, workload, figure),
  );
  const plots: [string, LineCharts][] = [
    ['uncontended-rate', { title: 'Uncontended: sections/s, × raw ioredis', unit, charts: rates }],
    [
      'uncontended-cost',
      { title: 'Uncontended: processor time a section, × raw ioredis', unit, charts: costs },
    ],
  ];
  return plots
    .map(([name, plot]): [string, LineCharts] => [
      name,
      { ...plot, charts: plot.charts.filter(({ lines }) => lines.length > 0) },
    ])
    .filter(([, { charts }]) => charts.length > 0);
}

/** Ours and the best peer of each size; raw with autopipelining beside them. */
function chart(
  title: string,
  summaries: readonly Summary[],
  workload: (atOnce: (typeof AT_ONCE)[number]) => { readonly name: string },
  figure: string,
): LineChart {
  const tables = AT_ONCE.flatMap((atOnce) =>
    summaries
      .filter((one) => one.workload.name === workload(atOnce).name)
      .map((one) => [atOnce, one] as const),
  );
  const line = (
    label: string,
    of: (one: Summary) => string | undefined,
  ): LineChart['lines'][number] => {
    const values = tables.flatMap(([atOnce, one]) => {
      const ratio = ratioOf(one, of(one), figure);
      return ratio === undefined ? [] : [[atOnce, ratio] as const];
    });
    return { label, colour: COLOURS(label), values: new Map(values) };
  };
  const lines = [
    ...SHOWN.map((variant) => line(variant, () => variant)),
    line(BEST, ({ bestPeer }) => bestPeer),
  ];
  return { title, lines: lines.filter(({ values }) => values.size > 0) };
}

const SHOWN = [RAW.on6, RAW.gatheredOn6, OURS.byDefault, OURS.unfenced, OURS.on5];
const BEST = 'best peer';
const COLOURS = colours([BEST]);

function ratioOf(
  { rows }: Summary,
  variant: string | undefined,
  figure: string,
): number | undefined {
  const ratio = rows.find((row) => row.variant === variant)?.ratios[figure]?.raw;
  return ratio !== undefined && Number.isFinite(ratio) ? ratio : undefined;
}
