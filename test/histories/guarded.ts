import type { Redis } from 'ioredis';

/** Who reads with a token shuts out all older ones; `false` if it is too old itself. */
const READ = `
if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'token') or 0) then return false end
redis.call('HSET', KEYS[1], 'token', ARGV[1])
return redis.call('HGET', KEYS[1], 'value') or '0'`;

const WRITE = `
if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'token') or 0) then return 0 end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'value', ARGV[3])
redis.call('RPUSH', KEYS[1] .. ':log', table.concat({ARGV[1], ARGV[2], ARGV[3]}, ' '))
return 1`;

/** A count on a server without faults, which refuses older fencing tokens than it has seen and knows every write. */
export class Guarded {
  constructor(private readonly redis: Redis) {}

  /** Undefined where the token is too old. */
  async read(key: string, token: number): Promise<number | undefined> {
    const value = await this.redis.eval(READ, 1, key, token);
    return value === null ? undefined : Number(value);
  }

  /** Who read `seen` writes one more. */
  async write(key: string, token: number, seen: number): Promise<void> {
    await this.redis.eval(WRITE, 1, key, token, seen, seen + 1);
  }

  /** What is wrong with the writes that it took: none may have been lost, and no token be older than one before it. */
  async wrongWrites(keys: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const key of keys) {
      let [lastToken, last] = [0, 0];
      for (const line of await this.redis.lrange(`${key}:log`, 0, -1)) {
        const [token, seen, written] = line.split(' ').map(Number) as [number, number, number];
        if (seen !== last) found.push(`${key}: token ${token} wrote ${written} over ${last}`);
        if (token < lastToken) found.push(`${key}: token ${token} wrote after ${lastToken}`);
        [lastToken, last] = [token, written];
      }
    }
    return found;
  }
}
