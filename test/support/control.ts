import { Redis, type RedisOptions } from 'ioredis';

/**
 * A connection by which a test looks at a server, also one that is killed or hangs. Disconnected while it has no
 * connection, a client of ioredis keeps a timer of `disconnectTimeout`, 2 s by default; a Jest worker has 0.5 s to end.
 */
export function controlOf(where: string | RedisOptions): Redis {
  const options = { disconnectTimeout: 100 };
  const redis =
    typeof where === 'string'
      ? new Redis(where, options)
      : new Redis({ host: '127.0.0.1', ...where, ...options });
  return redis.on('error', () => {});
}
