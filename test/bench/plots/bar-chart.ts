import { axis, short } from './axis.js';
import { drawing, element, FAINT, GRID, line, text } from './svg.js';

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly colour: string;
}

export interface BarChart {
  readonly title: string;
  readonly subtitle: string;
  readonly bars: readonly Bar[];
  /** A limit that bars are compared with. */
  readonly mark?: { readonly value: number; readonly label: string } | undefined;
}

const WIDTH = 820;
const LEFT = 230;
const RIGHT = 70;
const TOP = 84;
const ROW = 24;

/** Bars from left to right, their values at their ends. */
export function barChart({ title, subtitle, bars, mark }: BarChart): string {
  const values = [...bars.map(({ value }) => value), ...(mark ? [mark.value] : [])];
  const { at, ticks } = axis(values, LEFT, WIDTH - RIGHT);
  const bottom = TOP + bars.length * ROW;
  const grid = ticks.flatMap((tick) => [
    line(tick.at, TOP - 6, tick.at, bottom, GRID),
    text(tick.at, bottom + 18, tick.label, { anchor: 'middle', fill: FAINT }),
  ]);
  const rows = bars.flatMap(({ label, value, colour }, row) => {
    const y = TOP + row * ROW;
    const end = value > 0 ? Math.max(at(value), LEFT + 1) : LEFT + 1;
    return [
      text(LEFT - 10, y + 15, label, { anchor: 'end' }),
      element('rect', { x: LEFT, y: y + 4, width: end - LEFT, height: ROW - 8, fill: colour }),
      text(end + 6, y + 15, short(value), { fill: FAINT }),
    ];
  });
  return drawing(WIDTH, bottom + 34, [
    text(20, 28, title, { size: 16, weight: 600 }),
    text(20, 48, subtitle, { fill: FAINT }),
    ...grid,
    ...rows,
    ...(mark
      ? [
          line(at(mark.value), TOP - 6, at(mark.value), bottom, '#cf222e'),
          text(at(mark.value), TOP - 12, `${mark.label}: ${short(mark.value)}`, {
            anchor: 'middle',
            fill: '#cf222e',
          }),
        ]
      : []),
  ]);
}
