import type { Redis } from 'ioredis';

const WRITE = `
if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'token') or 0) then return 0 end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'value', ARGV[2])
return 1`;

/** Writes as a resource does that checks fencing tokens. False: a newer token has been seen. */
export async function fencedWrite(
  redis: Redis,
  resource: string,
  token: number,
  value: string,
): Promise<boolean> {
  return (await redis.eval(WRITE, 1, resource, token, value)) === 1;
}
