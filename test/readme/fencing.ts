import type { PGlite } from '@electric-sql/pglite';
import type { Redis } from 'ioredis';
// #region fencing
import { fencedRedis, fencedSql, type Lease } from 'nest-redis-lock';
// #endregion

type Database = Pick<PGlite, 'query'>;

// #region fencing

/** Any Redis, your own ioredis client; set, hset, del, call(command, key, …), eval(script, keys, args). */
export async function writeBalance(redis: Redis, id: string, balance: number, lease: Lease) {
  await fencedRedis(redis, lease).hset(`balance:${id}`, { balance });
}

/** Any driver: the two texts, and a look at what it answered. The column is a BIGINT. */
const fence = fencedSql('fence');

export async function updateBalance(db: Database, id: string, balance: number, lease: Lease) {
  const result = await db.query(
    `UPDATE accounts SET balance = $1, ${fence.set('$2')} WHERE id = $3 AND ${fence.where('$2')}`,
    [balance, lease.fencingToken, id],
  );
  fence.assertWritten(result, lease);
}
// #endregion
