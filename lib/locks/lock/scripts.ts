import { LuaScript } from '../../redis/index.js';
import { NATIVE_KEYS } from '../native-keys.js';
import acquire from './acquire.lua.js';
import downgrade from './downgrade.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import inspect from './inspect.lua.js';
import leave from './leave.lua.js';
import release from './release.lua.js';
import stamp from './stamp.lua.js';
import transfer from './transfer.lua.js';

/** Every step of the lock. */
export const scripts = {
  acquire: new LuaScript(
    acquire,
    NATIVE_KEYS,
    ['holder', 'ttl', 'tokens', 'not_after', 'inbox', 'limit', 'arrival', 'former', 'guard'],
    { batchable: true },
  ),
  release: new LuaScript(release, NATIVE_KEYS, ['holder', 'inbox', 'served', 'keep'], {
    batchable: true,
  }),
  leave: new LuaScript(leave, NATIVE_KEYS, ['holder', 'places', 'inbox']),
  extend: new LuaScript(extend, ['lock', 'fence'], ['holder', 'ttl']),
  inspect: new LuaScript(inspect, ['lock', 'queue', 'fence', 'holders'], ['most']),
  downgrade: new LuaScript(downgrade, NATIVE_KEYS, ['holder', 'inbox']),
  force: new LuaScript(force, NATIVE_KEYS, ['inbox', 'marker']),
  stamp: new LuaScript(stamp, ['lock', 'fence', 'holders'], []),
  transfer: new LuaScript(transfer, ['lock', 'fence'], ['holder', 'successor', 'ttl', 'not_after']),
};
