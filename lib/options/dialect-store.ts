import { LockOptionsError } from '../errors/index.js';
import type { DialectSettings } from './dialect.js';

/** @throws LockOptionsError where locks are kept in a way that the other side of a dialect does not keep them. */
export function checkStore(
  { name }: DialectSettings,
  { nodes, replicas }: { readonly nodes?: unknown; readonly replicas?: unknown },
): void {
  const [option, because] =
    nodes !== undefined
      ? ['nodes', `clients of "${name}" lock on one Redis`]
      : replicas !== undefined
        ? ['replicas', `clients of "${name}" wait for no replica`]
        : [];
  if (option === undefined) return;
  throw new LockOptionsError(
    `Dialect "${name}" and option "${option}" exclude each other: ${because}. Use a module without "${option}" for it.`,
  );
}
