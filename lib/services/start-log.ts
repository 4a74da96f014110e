import { LockStoreError } from '../errors/index.js';
import type { StoreDescription } from '../locks/lock-primitive.js';
import type { ModuleSettings } from '../options/index.js';
import { logger } from './logger.js';

/** Says at start-up what was found, and the options in force. */
export function logStart(
  { found, warnings }: StoreDescription,
  { keyPrefix, call }: ModuleSettings,
): void {
  const { ttl, wait, fencing } = call;
  logger.log(
    `${found}; keys "${keyPrefix}…", ttl ${ttl} ms, wait ${wait} ms, fencing ${fencing ? 'on' : 'off'}`,
  );
  for (const warning of warnings) logger.warn(warning);
}

/** Says beside why a start failed, where nothing listens, how to start all the same. */
export function withWayOut(error: unknown): unknown {
  if (!(error instanceof LockStoreError) || error.code !== 'LOCK_STORE') return error;
  if (!error.message.includes('ECONNREFUSED')) return error;
  const message = `${error.message} Option "lazyConnect" starts the application without Redis.`;
  const { retryable, outcome } = error;
  return new LockStoreError(message, { retryable, outcome });
}
