import type { LockFormat } from '../../../options/index.js';
import type { LockRequest } from '../../lock-request.js';
import type { Dialect } from '../dialect.js';
import { named } from '../../../redis/index.js';
import acquireReadWrite from './acquire-read-write.lua.js';
import acquire from './acquire.lua.js';
import extendReadWrite from './extend-read-write.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import inspect from './inspect.lua.js';
import releaseReadWrite from './release-read-write.lua.js';
import release from './release.lua.js';

/** The steps of RLock and RFencedLock, those of RReadWriteLock, and those of an operator. */
export const scripts = named('redisson', {
  acquire,
  release,
  extend,
  inspect,
  force,
  acquireReadWrite,
  releaseReadWrite,
  extendReadWrite,
});

/** Redisson's locks: a hash of counts by holder, and a channel that wakes waiters. */
export function redisson(settings: LockFormat): Dialect {
  return settings.kind === 'readWrite' ? readWrite(settings) : alone(settings);
}

/** RLock and RFencedLock. A spin lock has the same hash, and wakes nobody. */
function alone({ kind, publish = 'PUBLISH' }: LockFormat): Dialect {
  const operands = { fenced: kind === 'fenced' ? 1 : 0 };
  return {
    type: 'hash',
    ...scripts,
    operands: () => operands,
    keys: (lock) => ({ counter: before('redisson_lock_token', lock) }),
    wake: (lock) => ({
      publish,
      channel: before('redisson_lock__channel', lock),
      message: '0',
    }),
  };
}

/** RReadWriteLock: readers share it, each with the end of its lease in a key of its own. */
function readWrite({ publish = 'PUBLISH' }: LockFormat): Dialect {
  return {
    type: 'hash',
    ...scripts,
    acquire: scripts.acquireReadWrite,
    release: scripts.releaseReadWrite,
    extend: scripts.extendReadWrite,
    operands: (request, lock) => ({
      ...(request && { holder: fieldOf(request), mode: request.share ? 'read' : 'write' }),
      holds: behind(lock, ''),
    }),
    keys: (lock, request) => ({
      hold: behind(lock, `${request ? fieldOf(request) : ''}:rwlock_timeout:1`),
    }),
    wake: (lock) => ({ publish, channel: before('redisson_rwlock', lock), message: '1' }),
  };
}

/** The field of a holder in the hash: a writer's differs from that of a reader of the same thread. */
function fieldOf({ holder, share }: LockRequest): string {
  return share ? holder : `${holder}:write`;
}

/** A name that Redisson derives from a lock's, in the same cluster slot. */
function before(word: string, lock: string): string {
  return lock.includes('{') ? `${word}:${lock}` : `${word}:{${lock}}`;
}

function behind(lock: string, word: string): string {
  return lock.includes('{') ? `${lock}:${word}` : `{${lock}}:${word}`;
}
