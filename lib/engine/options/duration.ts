import { LockOptionsError } from '../errors/index.js';

/** A span of time: `'500ms'`, `'30s'`, `'5m'`, `'2h'`, `'1d'`, or a number of milliseconds. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The bounds a duration must keep, in ms; both inclusive. */
export interface DurationBounds {
  readonly min: number;
  readonly max: number;
}

/**
 * A duration in whole milliseconds.
 * @throws LockOptionsError naming the option, what was found and what is allowed.
 */
export function milliseconds(option: string, value: unknown, { min, max }: DurationBounds): number {
  const found = parse(value);
  if (found === undefined || Number.isNaN(found) || found < min || found > max) {
    throw new LockOptionsError(
      `Option "${option}" is ${shown(value)}; ` +
        `it takes a number of ms or a string like '500ms', '30s', '5m', from ${min} ms to ${max} ms.`,
    );
  }
  return found === Infinity ? found : Math.round(found);
}

/** A wrong value as a message shows it: texts in quotes, and no content of an object. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/**
 * The warning for a `wait` or `ttl` below 1,000 without a unit, whose author may have meant seconds. Undefined where no
 * warning is due.
 */
export function bareDuration(options: {
  readonly wait?: unknown;
  readonly ttl?: unknown;
}): string | undefined {
  const found = (['wait', 'ttl'] as const).find((name) => {
    const value = options[name];
    return typeof value === 'number' && value > 0 && value < UNITS.s;
  });
  return (
    found &&
    `has ${found}: ${String(options[found])}, which is in ms. If you mean that, write '${String(options[found])}ms'.`
  );
}

function parse(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value) ?? [];
  return amount === undefined ? undefined : Number(amount) * UNITS[unit as keyof typeof UNITS];
}
