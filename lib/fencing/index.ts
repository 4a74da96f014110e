export {
  FencedRedis,
  fencedRedis,
  type FencedRedisClient,
  type FencedRedisOptions,
  type RedisOperand,
} from './fenced-redis.js';
export { FencedSql, fencedSql, type FencedSqlOptions } from './fenced-sql.js';
export type { FencingTokenSource } from './fencing-token.js';
export type { SqlQuotes } from './sql-identifier.js';
