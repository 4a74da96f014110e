import { ForeignLockError } from '../errors/index.js';
import { MARKERS } from '../locks/holder.js';
import { READER } from '../options/index.js';
import { foreignType } from './foreign-type.js';
import { MemoryHolders } from './memory-holders.js';
import type { MemoryServer } from './memory-server.js';
import { fencingTokens, rememberedFor } from './mint-fencing-tokens.js';

/**
 * The version of what the lock at this name guards, as stamp.lua tells it; undefined while somebody holds it alone.
 * @throws ForeignLockError if something else stands there.
 */
export function versionOf(server: MemoryServer, name: string, key: string): number | undefined {
  const foreign = foreignType(server.values.get(name), READER);
  if (foreign) throw new ForeignLockError(key, foreign);
  const known = server.fences.get(name);
  if (known !== undefined) server.fences.expire(name, rememberedFor(server, known));
  const mint = { holder: '', tokenBlock: 1, share: undefined };
  const version = known ?? fencingTokens(server, name, mint).fencingToken;
  const { current, mode } = new MemoryHolders(server, name);
  return current === undefined || current === MARKERS.kept || mode ? version : undefined;
}
