import { LockStoreError } from '../../errors/index.js';
import { commandsOf, KeyList, LuaScript, named, type StepNode } from '../../redis/index.js';
import type { LockRequest } from '../lock-request.js';
import type { Dialect, DialectScript } from './dialect.js';
import tryOut from './try-out.lua.js';

/** Tries what a dialect needs on a key of no lock. */
export const scripts = named('dialect', { tryOut: new LuaScript(tryOut) });

/** All steps that are taken on a lock, and on one that is held. */
export function stepsOf({ acquire, release, extend }: Dialect): DialectScript[] {
  return [acquire, release, extend];
}

/**
 * Tries whether the user may do all that a lock of the dialect takes, from its grant to its end: before the first is taken.
 * @throws LockStoreError if not; nothing was taken then.
 */
export async function tryRights(
  node: StepNode,
  dialect: Dialect,
  keys: Readonly<Record<string, string>>,
  { key }: Pick<LockRequest, 'key'>,
): Promise<void> {
  const scratch = `${keys['grant']}:try`;
  const args = scripts.tryOut.argList({ commands: commandsOf(stepsOf(dialect)).join(' ') });
  const list = new KeyList([scratch, ...Object.values(keys)]);
  try {
    await node.run({ script: scripts.tryOut, keys: list, args, key, read: () => true });
  } catch (error) {
    if (!(error instanceof LockStoreError) || error.retryable) throw error;
    throw new LockStoreError(error.message, { key, outcome: 'unsent', retryable: false });
  }
}
