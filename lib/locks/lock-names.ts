import { globOf, type LockServer } from '../redis/index.js';

/** What a name must be to be found. */
export interface NameSearch {
  /** `*` stands for anything, all else for itself. */
  readonly pattern: string;
  /** How many are enough. */
  readonly most: number;
  /** Whether a name may be a lock's: other keys of locks are strings, too. */
  readonly mayBe: (name: string) => boolean;
}

/** The names at which a server has a string: somebody's lock, or a marker of several holders. */
export async function lockNames(
  server: Pick<LockServer, 'stringKeys'>,
  prefix: string,
  { pattern, most, mayBe }: NameSearch,
): Promise<string[]> {
  const found = new Set<string>();
  for await (const key of server.stringKeys(globOf(prefix, pattern))) {
    const name = key.slice(prefix.length);
    if (mayBe(name)) found.add(name);
    if (found.size >= most) break;
  }
  return [...found];
}
