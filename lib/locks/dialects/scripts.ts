import { LuaScript } from '../../redis/index.js';
import force from './force.lua.js';
import look from './look.lua.js';

/** The steps that are the same in every dialect, or in most. */
export const scripts = {
  look: new LuaScript(look, ['lock', 'fence'], []),
  force: new LuaScript(
    force,
    ['lock', 'grant'],
    ['type', 'publish', 'channel', 'message', 'older'],
  ),
};
