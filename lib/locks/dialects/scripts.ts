import { LuaScript } from '../../redis/index.js';
import force from './force.lua.js';

/** The steps that are the same in most dialects. */
export const scripts = {
  force: new LuaScript(
    force,
    ['lock', 'grant'],
    ['type', 'publish', 'channel', 'message', 'older'],
  ),
};
