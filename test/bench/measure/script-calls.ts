import type { Redis } from 'ioredis';

/** How many scripts clients have had run, as the server counts: a script cannot call another. */
export async function scriptCalls(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  const calls = stats.matchAll(/^cmdstat_(?:eval|evalsha|fcall):calls=(\d+)/gm);
  return [...calls].reduce((sum, [, count]) => sum + Number(count), 0);
}
