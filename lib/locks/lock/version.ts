import { ForeignLockError } from '../../errors/index.js';

/**
 * What stamp.lua returns; undefined while somebody holds the lock alone.
 * @throws ForeignLockError if something else stands at the lock's name.
 */
export function versionOf(reply: unknown, key: string): number | undefined {
  if (typeof reply === 'string') throw new ForeignLockError(key, reply);
  return (reply as number) || undefined;
}
