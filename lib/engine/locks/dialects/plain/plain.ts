import { createHash } from 'node:crypto';
import type { LockFormat } from '../../../options/index.js';
import { NEVER } from '../../../protocol/constants.js';
import { MARK } from '../../holder.js';
import type { LockRequest } from '../../lock-request.js';
import type { Dialect } from '../dialect.js';
import { named, type Operands } from '../../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import release from './release.lua.js';

/** The steps of a plain lock. */
export const scripts = named('plain', { acquire, release, extend });

/**
 * A string that names the holder, with a time to live: the format of most libraries. With `timestampCompat` the string is a
 * number, which clients of the SETNX articles read as a future time.
 */
export function plain({ timestampCompat }: LockFormat): Dialect {
  const operands = timestampCompat
    ? (request?: LockRequest): Operands => ({
        holder: request && digitsOf(request.holder),
        kept: NEVER,
        timestamp_compat: 1,
      })
    : (request?: LockRequest): Operands => ({ ...marked(request), kept: 'kept' });
  return { type: 'string', ...scripts, operands };
}

/** The holder's id beside native locks, and in the queue with their callers: no native holder has such an id. */
export function marked(request: LockRequest | undefined): { holder?: string } {
  return request ? { holder: request.holder + MARK } : {};
}

/**
 * A number made of the holder's id, between 2^52 and 2^53: a future time in s, ms and µs alike. No language refuses or rounds
 * the number, also when it counts s in ms. Two holders have the same number once in 2^52.
 */
function digitsOf(holder: string): string {
  const digest = createHash('sha256').update(holder).digest('hex');
  return String(2 ** 52 + Number.parseInt(digest.slice(0, 13), 16));
}
