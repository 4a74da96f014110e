import { Logger } from '@nestjs/common';

const nest = new Logger('RedisLock');

/** Writes at a level of the application's logger. A logger that throws must not delay or break a lock: the line is lost. */
function at(level: 'debug' | 'log' | 'warn' | 'error') {
  return (message: unknown, ...more: unknown[]): void => {
    try {
      nest[level](message, ...more);
    } catch {}
  };
}

/** The log of this library. */
export const logger = {
  debug: at('debug'),
  log: at('log'),
  warn: at('warn'),
  error: at('error'),
};
