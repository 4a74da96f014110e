import { random } from './random.js';

/** What may vary, each with its values. */
type Factors = Readonly<Record<string, readonly unknown[]>>;
/** One value of each. */
export type Row<Of extends Factors> = { readonly [Name in keyof Of]: Of[Name][number] };

/** How many rows are looked at before one is chosen. */
const CANDIDATES = 200;

/**
 * Rows in which each pair of values stands together at least once, if any row that is `possible` has it. The same
 * ones each time.
 */
export function pairwise<Of extends Factors>(
  factors: Of,
  possible: (row: Row<Of>) => boolean,
  seed = 1,
): Row<Of>[] {
  const next = random(seed);
  const candidates = Array.from({ length: CANDIDATES * 20 }, () => {
    const entries = Object.entries(factors).map(([name, values]) => [
      name,
      values[Math.floor(next() * values.length)],
    ]);
    return Object.fromEntries(entries) as Row<Of>;
  }).filter(possible);
  const left = new Set(candidates.flatMap(pairsOf));
  const rows: Row<Of>[] = [];
  while (left.size > 0) {
    const gain = (row: Row<Of>): number => pairsOf(row).filter((pair) => left.has(pair)).length;
    const some = candidates.filter((row) => gain(row) > 0).slice(0, CANDIDATES);
    const best = some.reduce((one, other) => (gain(other) > gain(one) ? other : one));
    for (const pair of pairsOf(best)) left.delete(pair);
    rows.push(best);
  }
  return rows;
}

function pairsOf(row: object): string[] {
  const said = Object.entries(row).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return said.flatMap((one, at) => said.slice(at + 1).map((other) => `${one} ${other}`));
}
