import { axis, short } from './axis.js';
import { drawing, element, FAINT, GRID, line, text } from './svg.js';

export interface Line {
  readonly label: string;
  readonly colour: string;
  /** By what stands at the foot of the chart. */
  readonly values: ReadonlyMap<number, number>;
}

export interface LineChart {
  readonly title: string;
  readonly lines: readonly Line[];
}

export interface LineCharts {
  readonly title: string;
  /** What stands at the foot of every chart. */
  readonly unit: string;
  readonly charts: readonly LineChart[];
}

const WIDTH = 410;
const HEIGHT = 300;
const LEFT = 56;
const RIGHT = 20;
const TOP = 74;
const FOOT = 50;
const LEGEND_ROW = 20;

/** Charts side by side over one legend. */
export function lineCharts({ title, unit, charts }: LineCharts): string {
  const width = Math.max(WIDTH * charts.length, 620);
  const legend = new Map(charts.flatMap(({ lines }) => lines.map((one) => [one.label, one])));
  const perRow = Math.max(1, Math.floor(width / 230));
  const entries = [...legend.values()].flatMap(({ label, colour }, index) => {
    const x = 20 + (index % perRow) * 230;
    const y = HEIGHT + 20 + Math.floor(index / perRow) * LEGEND_ROW;
    return [
      element('rect', { x, y: y - 6, width: 18, height: 4, fill: colour }),
      text(x + 26, y, label),
    ];
  });
  const height = HEIGHT + 26 + Math.ceil(legend.size / perRow) * LEGEND_ROW;
  const each = charts.length === 1 ? width : WIDTH;
  return drawing(width, height, [
    text(20, 28, title, { size: 16, weight: 600 }),
    ...charts.map((chart, index) =>
      element('g', { transform: `translate(${index * each} 0)` }, panel(chart, unit, each)),
    ),
    ...entries,
  ]);
}

function panel({ title, lines }: LineChart, unit: string, width: number): string {
  const sizes = [...new Set(lines.flatMap(({ values }) => [...values.keys()]))];
  const bottom = HEIGHT - FOOT;
  const { at, ticks } = axis(
    lines.flatMap(({ values }) => [...values.values()]),
    bottom,
    TOP,
  );
  const step = (width - LEFT - RIGHT) / sizes.length;
  const x = (size: number): number => LEFT + step * (sizes.indexOf(size) + 0.5);
  return [
    text(20, 52, title, { fill: FAINT }),
    ...ticks.flatMap((tick) => [
      line(LEFT, tick.at, width - RIGHT, tick.at, GRID),
      text(LEFT - 8, tick.at + 4, tick.label, { anchor: 'end', fill: FAINT }),
    ]),
    ...sizes.map((size) =>
      text(x(size), bottom + 18, short(size), { anchor: 'middle', fill: FAINT }),
    ),
    text((LEFT + width - RIGHT) / 2, bottom + 38, unit, { anchor: 'middle', fill: FAINT }),
    ...lines.map(({ colour, values }) => {
      const points = [...values].map(([size, value]) => [x(size), at(value)] as const);
      return [
        element('polyline', {
          points: points.map(([left, y]) => `${left.toFixed(1)},${y.toFixed(1)}`).join(' '),
          fill: 'none',
          stroke: colour,
          'stroke-width': 2,
        }),
        ...points.map(([cx, cy]) => element('circle', { cx, cy, r: 3.2, fill: colour })),
      ].join('');
    }),
  ].join('\n');
}
