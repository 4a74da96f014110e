import { LockKeyError } from '../errors/index.js';
import { describe, lockName } from '../keys/index.js';
import type { Administration } from '../client/administration.js';
import { type ModuleSettings, wholeNumber } from '../options/index.js';
import { dialectOf, type LookOptions } from './look-options.js';
import { inspection, type LockInspection, NAMED } from './lock-inspection.js';

/** The most locks one list may have. */
const MOST = 10_000;

/** What `LockService.list` takes beside a pattern. */
export interface ListOptions extends LookOptions {
  /** How many locks are enough, up to 10,000. @default 1000 */
  readonly limit?: number | undefined;
}

/** The locks that are not free and match, in the order of their keys. */
export async function listLocks(
  administration: Administration,
  pattern: string,
  options: ListOptions,
  settings: ModuleSettings,
): Promise<LockInspection[]> {
  const { limit = 1_000 } = options;
  const { keyBytes } = settings.limits;
  const dialect = dialectOf(options, settings);
  wholeNumber('limit', limit, MOST);
  if (typeof pattern !== 'string' || pattern === '' || Buffer.byteLength(pattern) > keyBytes) {
    const found = typeof pattern === 'string' && pattern !== '' ? 'longer' : describe(pattern);
    throw new LockKeyError(
      `A pattern of keys is a string of up to ${keyBytes} bytes, "*" for all; this is ${found}.`,
    );
  }
  const mayBe = (name: string): boolean => isLockName(name, keyBytes);
  const found = await administration.list({ pattern, most: limit, mayBe, dialect }, NAMED);
  return found
    .map(([key, sight]) => inspection(key, sight))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Other keys of locks are not named so. */
function isLockName(name: string, keyBytes: number): boolean {
  try {
    return lockName(name, keyBytes) === name;
  } catch {
    return false;
  }
}
