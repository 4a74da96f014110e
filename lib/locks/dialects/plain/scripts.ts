import { LuaScript } from '../../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import release from './release.lua.js';

/** The steps of a plain lock. */
export const scripts = {
  acquire: new LuaScript(
    acquire,
    ['lock', 'fence'],
    ['holder', 'ttl', 'tokens', 'not_after', 'guard'],
  ),
  release: new LuaScript(release, ['lock'], ['holder', 'kept', 'keep']),
  extend: new LuaScript(extend, ['lock'], ['holder', 'ttl']),
};
