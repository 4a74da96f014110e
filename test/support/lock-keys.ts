import { slotTagOf } from '../../lib/engine/redis/cluster/slot-map.js';
import { BESIDE, LockKeyLists } from '../../lib/engine/redis/index.js';

const NAMES = ['lock', 'fence', ...BESIDE] as const;

/** The Redis keys that a lock may have. */
export type LockKeys = Readonly<Record<(typeof NAMES)[number], string>>;

/** All of the lock `name` in a Cluster, by what the scripts call them. The fence is that of its slot. */
export function lockKeys(prefix: string, name: string): LockKeys {
  const { keys } = new LockKeyLists(prefix, slotTagOf).of(NAMES, name);
  return Object.fromEntries(NAMES.map((each, at) => [each, keys[at]])) as unknown as LockKeys;
}
