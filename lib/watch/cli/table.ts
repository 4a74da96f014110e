import { columnsOf, cutTo, printable } from './printable.js';

/** The gap between two columns. */
const GAP = '  ';
/** The narrowest width to which the first column of a table is cut. */
const LEAST = 12;

/** The lines of a table with a heading. The first column is cut if the lines would be wider than `most`. */
export function tableOf(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  most = Infinity,
): string[] {
  const all = [heading, ...rows].map((row) => row.map(printable));
  const widths = heading.map((_, at) => Math.max(...all.map((row) => columnsOf(row[at]!))));
  const whole = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  if (whole > most) widths[0] = Math.max(LEAST, widths[0]! - (whole - most));
  return all.map((row) =>
    row
      .map((cell, at) => padded(cutTo(cell, widths[at]!), widths[at]!))
      .join(GAP)
      .trimEnd(),
  );
}

export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}
