import { LockStoreError } from '../../errors/index.js';
import { KeyList, type StepNode } from '../../redis/index.js';
import type { LockRequest } from '../lock-request.js';
import type { Dialect, DialectScript } from './dialect-format.js';
import { scripts } from './scripts.js';

/** All steps that are taken on a lock, and on one that is held. */
export function stepsOf({ acquire, release, extend }: Dialect): DialectScript[] {
  return [acquire, release, extend];
}

/** The commands of the steps, as far as scripts say them. */
export function commandsOf(steps: readonly DialectScript[]): string[] {
  const calls = steps.flatMap(({ source: text }) => [
    ...text.matchAll(/redis\.p?call\('([A-Z]+)'/g),
  ]);
  return [...new Set(calls.map(([, command]) => command!.toLowerCase()))];
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
