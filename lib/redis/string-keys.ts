import type { RedisConnection } from './redis-connection.js';

/** How many keys one command looks at: not so many that others have to wait for it. */
const LOOK = 1_000;

/** The keys of one node that hold a string and match; one that is there all the time is found, some of them twice. */
export async function* stringKeys(
  connection: RedisConnection,
  glob: string,
): AsyncGenerator<string> {
  let cursor = '0';
  do {
    const operands = [cursor, 'MATCH', glob, 'COUNT', LOOK, 'TYPE', 'string'];
    const [next, keys] = (await connection.send('scan', operands)) as [string, string[]];
    yield* keys;
    cursor = next;
  } while (cursor !== '0');
}

/** A pattern of Redis in which `*` stands for anything, and all else for itself. */
export function globOf(literal: string, pattern: string): string {
  return escaped(literal) + pattern.split('*').map(escaped).join('*');
}

function escaped(text: string): string {
  return text.replaceAll(/[?*[\]\\^]/g, String.raw`\$&`);
}
