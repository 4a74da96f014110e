import { LuaScript } from '../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import leave from './leave.lua.js';
import release from './release.lua.js';

const ALL = ['lock', 'queue', 'seen', 'fence', 'holders'] as const;

/** The steps of a lock that several may hold: readers, or holders of permits. */
export const scripts = {
  acquire: new LuaScript(acquire, ALL, [
    'holder',
    'ttl',
    'tokens',
    'not_after',
    'inbox',
    'limit',
    'arrival',
    'kind',
    'permits',
    'count',
    'guard',
  ]),
  release: new LuaScript(release, ALL, ['holder', 'inbox', 'kind', 'count', 'keep']),
  leave: new LuaScript(leave, ALL, ['holder', 'place', 'inbox', 'kind', 'count']),
  extend: new LuaScript(extend, ['lock', 'fence', 'holders'], ['holder', 'ttl', 'kind', 'count']),
};
