import { type LockError, LockKeyError } from '../errors/index.js';
import { answerTo } from './lock-answer.js';
import { logger } from '../services/logger.js';

const logged = new WeakSet<LockError>();

/**
 * Logs, once an error, what the answer hides from a developer: a failure (status 500 and above), a value that cannot
 * be in a key, and why an event was not handled, which has no answer.
 */
export function logFailure(error: LockError, isEvent = false): void {
  if (logged.has(error)) return;
  logged.add(error);
  if (answerTo(error).status >= 500) logger.error(error.message, error.stack);
  else if (isEvent) logger.warn(`An event was not handled: ${error.message}`);
  else if (error instanceof LockKeyError) logger.warn(`Answered 400: ${error.message}`);
}
