import type { DialectSettings } from '../../../options/index.js';
import type { LockRequest } from '../../lock-request.js';
import type { Dialect } from '../dialect-format.js';
import { LuaScript } from '../../../redis/index.js';
import acquireMode from './acquire-mode.lua.js';
import acquire from './acquire.lua.js';
import extendMode from './extend-mode.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import look from './look.lua.js';
import releaseMode from './release-mode.lua.js';
import release from './release.lua.js';

/** The steps of RLock and RFencedLock, those of RReadWriteLock, and those of an operator. */
export const scripts = {
  acquire: new LuaScript(acquire),
  release: new LuaScript(release),
  extend: new LuaScript(extend),
  look: new LuaScript(look),
  force: new LuaScript(force),
  acquireMode: new LuaScript(acquireMode),
  releaseMode: new LuaScript(releaseMode),
  extendMode: new LuaScript(extendMode),
};

/** Redisson's locks: a hash of counts by holder, and a channel that wakes who waits. */
export function redisson(settings: DialectSettings): Dialect {
  return settings.kind === 'readWrite' ? readWrite(settings) : alone(settings);
}

/** RLock and RFencedLock. A spin lock has the same hash, and wakes nobody. */
function alone({ kind, publish = 'PUBLISH' }: DialectSettings): Dialect {
  const { acquire, release, extend, look, force } = scripts;
  const operands = { fenced: kind === 'fenced' ? 1 : 0 };
  return {
    type: 'hash',
    acquire,
    release,
    extend,
    look,
    force,
    operands: () => operands,
    keys: (lock) => ({ counter: before('redisson_lock_token', lock) }),
    wake: (lock) => ({
      publish,
      channel: before('redisson_lock__channel', lock),
      message: '0',
    }),
  };
}

/** RReadWriteLock: readers beside each other, each with the end of its lease in a key of its own. */
function readWrite({ publish = 'PUBLISH' }: DialectSettings): Dialect {
  const { acquireMode, releaseMode, extendMode, look, force } = scripts;
  return {
    type: 'hash',
    acquire: acquireMode,
    release: releaseMode,
    extend: extendMode,
    look,
    force,
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

/** A writer is told from a reader of the same thread. */
function fieldOf({ holder, share }: LockRequest): string {
  return share ? holder : `${holder}:write`;
}

/** Names as Redisson makes them of a lock's: in its cluster slot. */
function before(word: string, lock: string): string {
  return lock.includes('{') ? `${word}:${lock}` : `${word}:{${lock}}`;
}

function behind(lock: string, word: string): string {
  return lock.includes('{') ? `${lock}:${word}` : `{${lock}}:${word}`;
}
