import { lockKeyList } from '../../lib/redis/index.js';

const NAMES = ['lock', 'queue', 'seen', 'fence', 'version', 'holders', 'grant'] as const;

/** The Redis keys that a lock may have. */
export type LockKeys = Readonly<Record<(typeof NAMES)[number], string>>;

/** All of the lock `name`, by what the scripts call them. */
export function lockKeys(prefix: string, name: string): LockKeys {
  const { keys } = lockKeyList({ keys: NAMES }, prefix, [{ key: name }]);
  return Object.fromEntries(NAMES.map((each, at) => [each, keys[at]])) as unknown as LockKeys;
}
