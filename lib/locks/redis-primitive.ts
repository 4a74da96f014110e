import type { RedisServer } from '../redis/index.js';
import { BothModes } from './both-modes.js';
import { RedisLock } from './lock/redis-lock.js';
import type { LockPrimitive } from './lock-primitive.js';
import { LockSteps } from './lock-steps.js';
import { RedisShares } from './shares/redis-shares.js';

/** The lock on one Redis server, in all its modes. */
export function redisPrimitive(
  server: RedisServer,
  prefix: string,
  inbox: string,
  waitersPerKey: number,
): LockPrimitive {
  const steps = new LockSteps(server, prefix, inbox, waitersPerKey);
  return new BothModes(new RedisLock(steps), new RedisShares(steps));
}
