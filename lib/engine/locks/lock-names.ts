import type { DialectSettings } from '../options/index.js';
import { globOf, type KeyType, type LockServer } from '../redis/index.js';

/** What a name must be to be found. */
export interface NameSearch {
  /** `*` stands for anything, all else for itself. */
  readonly pattern: string;
  /** How many are enough. */
  readonly most: number;
  /** Whether a name may be a lock's: other keys of locks are strings, too. */
  readonly mayBe: (name: string) => boolean;
  /** In whose format they are written; undefined: ours. */
  readonly dialect?: DialectSettings | undefined;
}

/** Where Redis has the locks of a format. */
export interface Whereabouts {
  readonly type: KeyType;
  readonly prefix: string;
  readonly suffix: string;
}

/** The names at which a server has a key of the locks' type: of ours, somebody's lock or a marker of several holders. */
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
