import type { LockFormat } from '../options/index.js';
import { globOf, type KeyType, type LockServer } from '../redis/index.js';

/** A search for locks by name. */
export interface NameSearch {
  /** `*` matches any text; every other character matches itself. */
  readonly pattern: string;
  /** The most names to return. */
  readonly most: number;
  /** Returns true for a possible name of a lock: other keys of locks are strings too. */
  readonly mayBe: (name: string) => boolean;
  /** How the locks are written in Redis; natively, if it is left out. */
  readonly format?: LockFormat;
}

/** The type and the key pattern of a format's locks. */
export interface Whereabouts {
  readonly type: KeyType;
  readonly prefix: string;
  readonly suffix: string;
}

/** Lists the names at which a server has a key of the locks' type. For native locks that is a holder's id, or a marker of several holders. */
export async function lockNames(
  server: Pick<LockServer, 'typedKeys'>,
  { type, prefix, suffix }: Whereabouts,
  { pattern, most, mayBe }: NameSearch,
): Promise<string[]> {
  const found = new Set<string>();
  for await (const key of server.typedKeys(globOf(prefix, pattern, suffix), type)) {
    const name = key.slice(prefix.length, key.length - suffix.length);
    if (mayBe(name)) found.add(name);
    if (found.size >= most) break;
  }
  return [...found];
}
