import { LuaScript } from '../../../redis/index.js';
import acquireMode from './acquire-mode.lua.js';
import acquire from './acquire.lua.js';
import extendMode from './extend-mode.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import look from './look.lua.js';
import releaseMode from './release-mode.lua.js';
import release from './release.lua.js';

const ASK = ['holder', 'ttl', 'tokens', 'not_after'] as const;

/** The steps of RLock and RFencedLock, those of RReadWriteLock, and those of an operator. */
export const scripts = {
  acquire: new LuaScript(acquire, ['lock', 'fence', 'counter'], [...ASK, 'fenced']),
  release: new LuaScript(release, ['lock'], ['holder', 'publish', 'channel', 'message']),
  extend: new LuaScript(extend, ['lock'], ['holder', 'ttl']),
  look: new LuaScript(look, ['lock', 'fence'], ['most', 'holds']),
  force: new LuaScript(force, ['lock'], ['publish', 'channel', 'message', 'older']),
  acquireMode: new LuaScript(acquireMode, ['lock', 'fence', 'hold'], [...ASK, 'mode']),
  releaseMode: new LuaScript(
    releaseMode,
    ['lock', 'hold'],
    ['holder', 'publish', 'channel', 'mode', 'holds'],
  ),
  extendMode: new LuaScript(extendMode, ['lock', 'hold'], ['holder', 'ttl', 'mode']),
};
