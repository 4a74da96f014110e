import { LockOptionsError } from '../errors/index.js';

/** How a lock is held. */
export interface ModeOptions {
  /**
   * `'exclusive'`: one caller holds the lock. `'shared'`: readers hold it together, and no writer beside them.
   * @default 'exclusive'
   * @see readers in docs/semaphores-and-readers.md#readers-and-writers
   */
  readonly mode?: 'exclusive' | 'shared' | undefined;
}

export const MODE_DEFAULTS = { mode: 'exclusive' } as const satisfies ModeOptions;

/** How many callers may hold a lock at once. */
export interface PermitOptions {
  /**
   * How many callers may hold the lock at once, over all replicas. Not with `mode`.
   *
   * Without it, one. A name is used either with permits or without: the other use throws `ForeignLockError`.
   * @range 1 to 10,000
   * @see How many callers in docs/semaphores-and-readers.md#permits
   */
  readonly permits?: number | undefined;
}

/** The most permits a semaphore has. */
export const MOST_PERMITS = 10_000;

/** The permits of a lock that several callers may hold at once, and how many of them one lease takes. */
export interface Share {
  /** The number of permits; Infinity for shared mode, with any number of readers. */
  readonly permits: number;
  readonly count: number;
}

/** Shared mode: any number of readers at once, and no exclusive holder beside them. */
export const READER: Share = { permits: Infinity, count: 1 };

/** True for shared mode, in which the number of holders has no bound. */
export function isReader(share: Share | undefined): boolean {
  return share?.permits === Infinity;
}

/** How many permits a semaphore has; undefined for a lock, whatever its mode. */
export function permitsOf(share: Share | undefined): number | undefined {
  return isReader(share) ? undefined : share?.permits;
}

/** @throws LockOptionsError if mode or permits are wrong, or both are given. */
export function shareOf(options: ModeOptions & PermitOptions): Share | undefined {
  const { mode = MODE_DEFAULTS.mode, permits } = options;
  if (mode !== 'exclusive' && mode !== 'shared') {
    throw new LockOptionsError("Option \"mode\" takes 'exclusive' or 'shared'.");
  }
  if (permits === undefined) return mode === 'shared' ? READER : undefined;
  if (options.mode !== undefined) {
    throw new LockOptionsError('Options "mode" and "permits" exclude each other.');
  }
  return { permits: wholeNumber('permits', permits, MOST_PERMITS), count: 1 };
}

/** @throws LockOptionsError unless `value` is a whole number from 1 to `most`. */
export function wholeNumber(name: string, value: unknown, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most) {
    return value as number;
  }
  throw new LockOptionsError(`Option "${name}" takes a whole number from 1 to ${most}.`);
}
