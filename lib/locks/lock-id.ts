import type { DialectSettings } from '../options/index.js';
import type { LockRequest } from './lock-request.js';

type Lock = Pick<LockRequest, 'key' | 'dialect'>;

/**
 * What tells locks of one process apart: ours of a name, and in another format the Redis key, however it is split into
 * prefix and name. No name has a control character.
 */
export function lockId({ key, dialect }: Lock): string {
  return dialect ? `${dialect.prefix}${key}${dialect.suffix}\n${dialect.format}` : key;
}

/** Whether who holds the one has the other too: what is written otherwise may not keep the same others out. */
export function isSameLock(one: Lock, other: Lock): boolean {
  return lockId(one) === lockId(other) && writing(one.dialect) === writing(other.dialect);
}

/** How a lock of its format is written, where there is a choice. */
function writing(dialect: DialectSettings | undefined): string | undefined {
  if (!dialect) return undefined;
  const { guard, unit, lasting, kind } = dialect;
  return [guard, unit, lasting, kind].join();
}
