import type { Growth } from '../scale/curves.js';
import { number, table } from './table.js';

export function growthTable({ name, unit, titles, curves }: Growth): string {
  const sizes = [...new Set(curves.flatMap(({ points }) => points.map(({ size }) => size)))];
  const rows = Object.entries(titles).flatMap(([figure, title]) =>
    curves.map(({ variant, points }) => [
      `${variant}: ${title}`,
      ...sizes.map((size) => number(points.find((point) => point.size === size)?.figures[figure])),
    ]),
  );
  return `### ${name}\n\n${table([unit, ...sizes.map(String)], rows)}`;
}
