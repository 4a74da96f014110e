import { epochKey } from '../../../engine/locks/server-epoch.js';
import { baseOf, BESIDE } from '../../../engine/redis/index.js';
import { isLockName } from '../../../engine/inspection/inspection.js';

/**
 * The kind of a key under the prefix, by its name. `beside`: a key beside a lock; `fence`: the counter of tokens; `generation`:
 * the mark of a server process; `old`: a key that an older version kept beside a lock; `foreign`: not of this library.
 */
export type KeyKind = 'lock' | 'beside' | 'fence' | 'generation' | 'old' | 'foreign';

const FENCE = /^\{\d*\}:fence$/;
/** The suffixes of keys beside a lock: present ones, and those of older versions. */
const NOW = new RegExp(`^(.+):(?:${BESIDE.join('|')})$`, 's');
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

/** True if `base` begins the keys beside some lock. */
function isBeside(base: string | undefined, isLock: (name: string) => boolean): boolean {
  if (base === undefined) return false;
  const locks = [base.slice(1, -1), base.slice(0, -2), base];
  return locks.some((lock) => isLock(lock) && baseOf(lock) === base);
}
