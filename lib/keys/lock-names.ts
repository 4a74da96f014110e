import { LockKeyError } from '../errors/index.js';
import { lockName } from './lock-name.js';

/** The most locks that one lease holds. */
const MOST = 100;

/**
 * The name of a lock, or of several: each once, in one order for all processes.
 * @throws LockKeyError as {@link lockName}, or if there is none, or more than 100.
 */
export function lockNames(
  key: string | readonly string[],
  maxBytes: number,
): string | readonly string[] {
  if (!Array.isArray(key)) return lockName(key, maxBytes);
  const names = [...new Set(key.map((each) => lockName(each, maxBytes)))].sort();
  if (names.length === 0) throw new LockKeyError('A lock needs a key: the list of keys is empty.');
  if (names.length > MOST) {
    throw new LockKeyError(`One lease holds up to ${MOST} locks, not ${names.length}.`);
  }
  return names.length === 1 ? names[0]! : names;
}
