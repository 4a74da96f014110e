import type { LockServer } from '../redis/index.js';
import { RedisConditions } from './condition/redis-conditions.js';
import { RedisLock } from './lock/redis-lock.js';
import type { LockPrimitive } from './lock-primitive.js';
import { LockSteps } from './lock-steps.js';
import { Modes } from './modes.js';
import { RedisShares } from './shares/redis-shares.js';

/** The lock on a Redis, in all its modes. */
export function redisPrimitive(
  server: LockServer,
  prefix: string,
  waitersPerKey: number,
  heard: (message: string) => void,
  guarded = false,
): LockPrimitive {
  const steps = new LockSteps(server, prefix, waitersPerKey, heard, guarded);
  return new Modes(new RedisLock(steps), new RedisShares(steps), new RedisConditions(steps));
}
