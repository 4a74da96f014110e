import { Redis } from 'ioredis';
import { RedisProcess } from '../../tools/redis-server.js';
import { KEY_PREFIX } from './redis.module.js';

export interface RedisForSamples {
  readonly url: string;
  /** What it is, in words; never the URL, which may hold a password. */
  readonly description: string;
  /** Leaves nothing behind: neither our keys on somebody's server, nor a server of our own. */
  close(): Promise<void>;
}

/**
 * The Redis of REDIS_URL, else one of our own that lives as long as this process. Where there is
 * neither, says in one sentence what to do and ends the process.
 */
export async function redisForSamples(): Promise<RedisForSamples> {
  try {
    const url = process.env['REDIS_URL'];
    return url ? await somebodys(url) : await ourOwn();
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}

async function ourOwn(): Promise<RedisForSamples> {
  const server = await RedisProcess.start();
  return {
    url: server.url,
    description: 'a redis-server of its own',
    close: () => server.stop(),
  };
}

async function somebodys(url: string): Promise<RedisForSamples> {
  await deleteOurKeys(url);
  return { url, description: 'the Redis of REDIS_URL', close: () => deleteOurKeys(url) };
}

async function deleteOurKeys(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {}); // said below, without what ioredis puts into it
  try {
    await redis.connect();
    for await (const keys of redis.scanStream({ match: `${KEY_PREFIX}*`, count: 1_000 })) {
      if (keys.length > 0) await redis.unlink(keys);
    }
  } catch {
    throw new Error('The Redis of REDIS_URL cannot be used: start it, or unset REDIS_URL.');
  } finally {
    redis.disconnect();
  }
}
