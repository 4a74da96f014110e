import type { RedisConnection } from './redis-connection.js';

/** How many keys one command looks at: not so many that others have to wait for it. */
const LOOK = 1_000;

/** The types of keys at which locks stand. */
export type KeyType = 'string' | 'zset' | 'hash';

/** The keys of one node that are of a type and match; one that is there all the time is found, some of them twice. */
export async function* typedKeys(
  connection: RedisConnection,
  glob: string,
  type: KeyType,
): AsyncGenerator<string> {
  let cursor = '0';
  do {
    const operands = [cursor, 'MATCH', glob, 'COUNT', LOOK, 'TYPE', type];
    const [next, keys] = (await connection.send('scan', operands)) as [string, string[]];
    yield* keys;
    cursor = next;
  } while (cursor !== '0');
}

/** A pattern of Redis in which `*` stands for anything, and all else for itself. */
export function globOf(before: string, pattern: string, after = ''): string {
  return escaped(before) + pattern.split('*').map(escaped).join('*') + escaped(after);
}

function escaped(text: string): string {
  return text.replaceAll(/[?*[\]\\^]/g, String.raw`\$&`);
}
