const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Formats a length of time for people, with two units at most. */
export function span(ms: number): string {
  if (ms === Infinity) return 'no end';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const at = UNITS.findIndex(([, length]) => ms >= length);
  const [unit, length] = UNITS[at]!;
  const whole = `${Math.floor(ms / length)} ${unit}`;
  const [smaller, part] = UNITS[at + 1] ?? [];
  const rest = part === undefined ? 0 : Math.floor((ms % length) / part);
  return rest === 0 ? whole : `${whole} ${rest} ${smaller}`;
}
