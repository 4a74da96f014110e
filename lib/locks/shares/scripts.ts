import { LuaScript } from '../../redis/index.js';
import { NATIVE_KEYS } from '../native-keys.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import leave from './leave.lua.js';
import release from './release.lua.js';

/** The steps of a lock that several may hold: readers, or holders of permits. */
export const scripts = {
  acquire: new LuaScript(
    acquire,
    NATIVE_KEYS,
    [
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
    ],
    { batchable: true },
  ),
  release: new LuaScript(release, NATIVE_KEYS, ['holder', 'inbox', 'kind', 'count', 'keep'], {
    batchable: true,
  }),
  leave: new LuaScript(leave, NATIVE_KEYS, ['holder', 'place', 'inbox', 'kind', 'count']),
  extend: new LuaScript(extend, ['lock', 'fence', 'holders'], ['holder', 'ttl', 'kind', 'count']),
};
