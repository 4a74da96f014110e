import { LockStoreError } from '../../errors/index.js';
import { commandsOf, KeyList, named, type StepNode } from '../../redis/index.js';
import type { LockRequest } from '../lock-request.js';
import type { Dialect, DialectScript } from './dialect.js';
import tryOut from './try-out.lua.js';

/** The script that tries a dialect's commands on a scratch key. */
export const scripts = named('dialect', { tryOut });

/** The steps of a lock from its grant to its end. */
export function stepsOf({ acquire, release, extend }: Dialect): DialectScript[] {
  return [acquire, release, extend];
}

/**
 * Tries all commands that a lock of the dialect needs, before the first lock is taken.
 * @throws LockStoreError if the Redis user may not run one of them; nothing was taken then.
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
