import { logger } from './logger.js';

/** How many locks are named. */
const NAMED = 20;

/** Names the locks that a shutdown took from code that had not given them back when its grace was over. */
export function logTaken(keys: readonly string[], grace: number): void {
  if (keys.length === 0) return;
  const named = keys.slice(0, NAMED).map((key) => `"${key}"`);
  const more = keys.length > NAMED ? ` and ${keys.length - NAMED} more` : '';
  logger.warn(
    `The application shuts down: after ${grace} ms (option "shutdownGrace") these locks were still held, and were given back: ${named.join(', ')}${more}.`,
  );
}
