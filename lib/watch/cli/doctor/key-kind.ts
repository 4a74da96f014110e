import { epochKey } from '../../../engine/locks/server-epoch.js';
import { baseOf } from '../../../engine/redis/index.js';
import { isLockName } from '../../../engine/inspection/inspection.js';

/**
 * What a key under the prefix is, by its name: a lock's own, one of those beside it, the counter of tokens, the mark of a
 * server that was seen; or one that an older version kept beside a lock, or none of this library's.
 */
export type KeyKind = 'lock' | 'beside' | 'fence' | 'generation' | 'old' | 'foreign';

const FENCE = /^\{\d*\}:fence$/;
/** What stands behind the base of a lock's keys: now, and in older versions. */
const NOW = /^(.+):(?:queue|seen|version|holders|grant)$/s;
const BEFORE = /^(.+?):(?:fence|cond(?::[^{}]*)?)$/s;

export function kindOf(key: string, prefix: string, keyBytes: number): KeyKind {
  const isLock = (name: string): boolean =>
    name.startsWith(prefix) && isLockName(name.slice(prefix.length), keyBytes);
  if (key === epochKey(prefix)) return 'generation';
  if (key.startsWith(prefix) && FENCE.test(key.slice(prefix.length))) return 'fence';
  if (isBeside(NOW.exec(key)?.[1], isLock)) return 'beside';
  if (isBeside(BEFORE.exec(key)?.[1], isLock)) return 'old';
  return isLock(key) ? 'lock' : 'foreign';
}

/** Whether the keys beside some lock begin so. */
function isBeside(base: string | undefined, isLock: (name: string) => boolean): boolean {
  if (base === undefined) return false;
  const locks = [base.slice(1, -1), base.slice(0, -2), base];
  return locks.some((lock) => isLock(lock) && baseOf(lock) === base);
}
