import { LuaScript } from '../../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import release from './release.lua.js';

/** The steps of a plain lock. */
export const scripts = {
  acquire: new LuaScript(
    acquire,
    ['lock', 'fence', 'grant'],
    ['holder', 'ttl', 'tokens', 'not_after', 'guard'],
  ),
  release: new LuaScript(release, ['lock', 'grant'], ['holder', 'kept', 'keep', 'guard']),
  extend: new LuaScript(extend, ['lock', 'grant'], ['holder', 'ttl', 'guard']),
};
