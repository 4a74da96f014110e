import { LuaScript } from '../../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import look from './look.lua.js';
import release from './release.lua.js';

/** The steps of a Symfony lock. */
export const scripts = {
  acquire: new LuaScript(
    acquire,
    ['lock', 'fence'],
    ['holder', 'ttl', 'tokens', 'not_after', 'mode'],
  ),
  release: new LuaScript(release, ['lock'], ['holder']),
  extend: new LuaScript(extend, ['lock'], ['holder', 'ttl', 'mode']),
  look: new LuaScript(look, ['lock', 'fence'], ['most']),
  force: new LuaScript(force, ['lock'], []),
};
