import { Logger } from '@nestjs/common';
import type { LockOrderError } from '../errors/index.js';

const logger = new Logger('RedisLock');

/** Warns of locks that are taken in opposite orders, with the stacks of both calls. */
export function logOrder(error: LockOrderError): void {
  logger.warn(error.stack);
}
