import { LuaScript } from '../../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import get from './get.lua.js';
import getset from './getset.lua.js';
import look from './look.lua.js';
import release from './release.lua.js';
import setnx from './setnx.lua.js';

const ASK = ['holder', 'ttl', 'tokens', 'not_after', 'unit', 'lasting'] as const;
const STEP = ['holder', 'ttl', 'not_after', 'unit'] as const;

/** The steps of a timestamp lock; those of the articles one by one, and as one. */
export const scripts = {
  acquire: new LuaScript(acquire, ['lock', 'fence', 'grant'], ASK),
  setnx: new LuaScript(setnx, ['lock', 'grant'], STEP),
  get: new LuaScript(get, ['lock'], ['unit']),
  getset: new LuaScript(getset, ['lock', 'grant'], [...STEP, 'seen']),
  look: new LuaScript(look, ['lock', 'fence', 'grant'], ['unit']),
  force: new LuaScript(force, ['lock', 'grant'], ['unit']),
  release: new LuaScript(release, ['lock', 'grant'], ['holder', 'unit', 'keep']),
  extend: new LuaScript(extend, ['lock', 'grant'], ['holder', 'ttl', 'unit', 'lasting']),
};
