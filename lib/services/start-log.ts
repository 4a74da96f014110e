import { Logger } from '@nestjs/common';
import type { StoreDescription } from '../locks/lock-primitive.js';
import type { ModuleSettings } from '../options/index.js';

const logger = new Logger('RedisLock');

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
