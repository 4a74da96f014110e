import type { Claim } from './lock-primitive.js';

/** What tells locks of one process apart: one name in two formats is two locks. No name has a control character. */
export function lockId({ key, dialect }: Pick<Claim, 'key' | 'dialect'>): string {
  return dialect ? `${dialect.prefix}\n${key}\n${dialect.suffix}\n${dialect.format}` : key;
}
