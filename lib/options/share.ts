import { LockOptionsError } from '../errors/index.js';

/** How a lock is held. */
export interface ModeOptions {
  /** `'exclusive'`: alone; `'shared'`: beside any number of other readers. @default 'exclusive' */
  readonly mode?: 'exclusive' | 'shared' | undefined;
}

export const MODE_DEFAULTS = { mode: 'exclusive' } as const satisfies ModeOptions;

/** How many may hold a lock at once. */
export interface PermitOptions {
  /** At most so many at a time, over all replicas, instead of one. A name is used either with permits or without. */
  readonly permits?: number | undefined;
}

/** The most permits a semaphore has. */
export const MOST_PERMITS = 10_000;

/** For a lock that several may hold at once: how many, and how much of it one lease takes. */
export interface Share {
  /** Infinity: any number of readers (shared mode). */
  readonly permits: number;
  readonly count: number;
}

/** Shared mode: beside any number of other readers, never beside who holds the lock alone. */
export const READER: Share = { permits: Infinity, count: 1 };

/** Whether so many may hold it as like to. */
export function isReader(share: Share | undefined): boolean {
  return share?.permits === Infinity;
}

/** How many permits a semaphore has; undefined for a lock, whatever its mode. */
export function permitsOf(share: Share | undefined): number | undefined {
  return isReader(share) ? undefined : share?.permits;
}

/** @throws LockOptionsError when mode or permits are wrong, or both are given. */
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

/** @throws LockOptionsError unless it is a whole number from 1 to `most`. */
export function wholeNumber(name: string, value: unknown, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most) {
    return value as number;
  }
  throw new LockOptionsError(`Option "${name}" takes a whole number from 1 to ${most}.`);
}
