import { LuaScript } from '../../../redis/index.js';
import { scripts as plain } from '../plain/scripts.js';
import force from './force.lua.js';
import release from './release.lua.js';

/** The steps of a lock of python-redis-lock: a plain lock that leaves a signal when it is given back. */
export const scripts = {
  acquire: plain.acquire,
  extend: plain.extend,
  release: new LuaScript(release, ['lock', 'signal'], ['holder']),
  force: new LuaScript(force, ['lock', 'signal'], []),
};
