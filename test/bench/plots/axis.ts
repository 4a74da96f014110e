/** Where values lie on an axis. */
export interface Axis {
  readonly at: (value: number) => number;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

/** How many times the least value the greatest must be for a logarithmic axis. */
const WIDE = 30;

/** From `from` (the least) to `to`, logarithmic where values are far apart; then what is not positive lies at `from`. */
export function axis(values: readonly number[], from: number, to: number): Axis {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  return most / least > WIDE ? logarithmic(least, most, from, to) : linear(most, from, to);
}

function logarithmic(least: number, most: number, from: number, to: number): Axis {
  const [low, high] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  const at = (value: number): number =>
    value <= 0 ? from : from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  const powers = Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step));
  return { at, ticks: powers.map((power) => ({ at: at(power), label: short(power) })) };
}

function linear(most: number, from: number, to: number): Axis {
  const unit = 10 ** Math.floor(Math.log10(most));
  const step = [0.2, 0.5, 1, 2].map((share) => share * unit).find((size) => most / size <= 6)!;
  const top = Math.ceil(most / step - 1e-9) * step;
  const at = (value: number): number => from + (value / top) * (to - from);
  const marks = Array.from({ length: Math.round(top / step) + 1 }, (_, mark) => mark * step);
  return { at, ticks: marks.map((mark) => ({ at: at(mark), label: short(mark) })) };
}

/** A number as it stands beside an axis or a bar. */
export function short(value: number): string {
  if (value >= 1e6) return `${round(value / 1e6)} M`;
  if (value >= 1e4) return `${round(value / 1e3)} k`;
  return round(value);
}

function round(value: number): string {
  return String(Number(value.toPrecision(value >= 1_000 ? 4 : 3)));
}
