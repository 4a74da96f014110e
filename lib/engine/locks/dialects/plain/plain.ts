import { createHash } from 'node:crypto';
import type { DialectSettings } from '../../../options/index.js';
import { NEVER } from '../../../protocol/constants.js';
import { MARK } from '../../holder.js';
import type { LockRequest } from '../../lock-request.js';
import type { Dialect } from '../dialect.js';
import { LuaScript, named, type Operands } from '../../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import release from './release.lua.js';

/** The steps of a plain lock. */
export const scripts = named('plain', {
  acquire: new LuaScript(acquire),
  release: new LuaScript(release),
  extend: new LuaScript(extend),
});

/**
 * A string of the holder's own, with a time to live: what most libraries write. With `timestampCompat` it is a number, all of
 * it: clients of the SETNX articles read it as a time to come, and none of them fails to read it.
 */
export function plain({ timestampCompat }: DialectSettings): Dialect {
  if (!timestampCompat) {
    const operands = (request?: LockRequest): Operands => ({ ...marked(request), kept: 'kept' });
    return { type: 'string', ...scripts, operands };
  }
  return {
    type: 'string',
    ...scripts,
    operands: (request) => ({
      ...(request && { holder: digitsOf(request.holder) }),
      kept: NEVER,
      timestamp_compat: 1,
    }),
  };
}

/** The holder as it is written beside native locks, and where it queues with their callers: an id that is no native holder's. */
export function marked(request: LockRequest | undefined): { holder?: string } {
  return request ? { holder: request.holder + MARK } : {};
}

/**
 * Made of the holder's id, between 2^52 and 2^53: a time to come in s, ms and µs alike, and a number that no language refuses
 * or rounds, also when it counts s in ms. Two holders have the same once in 2^52.
 */
function digitsOf(holder: string): string {
  const digest = createHash('sha256').update(holder).digest('hex');
  return String(2 ** 52 + Number.parseInt(digest.slice(0, 13), 16));
}
