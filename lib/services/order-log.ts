import type { LockOrderError } from '../errors/index.js';
import { logger } from './logger.js';

/** Warns of locks that are taken in opposite orders, with the stacks of both calls. */
export function logOrder(error: LockOrderError): void {
  logger.warn(error.stack);
}
