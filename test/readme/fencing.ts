// #region fencing
import type { Redis } from 'ioredis';
import type { Lease } from 'nest-redis-lock';

/** Writes only if nobody with a later token has written before. */
const WRITE_FENCED = `
  if tonumber(redis.call('HGET', KEYS[1], 'fence') or '0') > tonumber(ARGV[1]) then return 0 end
  redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'balance', ARGV[2])
  return 1`;

export async function writeBalance(redis: Redis, id: string, balance: number, lease: Lease) {
  const key = `balance:${id}`;
  const written = await redis.eval(WRITE_FENCED, 1, key, lease.fencingToken, balance);
  if (written === 0) throw new Error(`A later holder has written ${key} already.`);
}
// #endregion
