import { LuaScript } from '../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import release from './release.lua.js';
import revote from './revote.lua.js';
import settle from './settle.lua.js';

/** Every step on one node of a quorum. */
export const scripts = {
  acquire: new LuaScript(
    acquire,
    ['lock', 'fence'],
    ['holder', 'attempt', 'ttl', 'tokens', 'proposed', 'not_after'],
    { batchable: true },
  ),
  settle: new LuaScript(settle, ['lock', 'fence'], ['holder', 'attempt', 'last', 'tokens']),
  release: new LuaScript(release, ['lock'], ['holder', 'attempt', 'keep'], { batchable: true }),
  extend: new LuaScript(extend, ['lock', 'fence'], ['holder', 'ttl']),
  revote: new LuaScript(revote, ['lock'], ['holder', 'ttl', 'not_after'], { batchable: true }),
  force: new LuaScript(force, ['lock'], []),
};
