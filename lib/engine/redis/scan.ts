import type { RedisConnection } from './redis-connection.js';

/** How many keys one SCAN looks at: few enough not to hold up other clients. */
const SCANNED = 1_000;

/**
 * The keys of a server that match, a list for each SCAN, which may be empty. A key that is there all the time is found,
 * perhaps twice.
 */
export async function* scanned(
  connection: Pick<RedisConnection, 'send'>,
  glob: string,
  ...filter: readonly string[]
): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const operands = [cursor, 'MATCH', glob, 'COUNT', SCANNED, ...filter];
    const [next, keys] = (await connection.send('scan', operands)) as [string, string[]];
    yield keys;
    cursor = next;
  } while (cursor !== '0');
}
