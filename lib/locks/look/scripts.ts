import { LuaScript } from '../../redis/index.js';
import look from './look.lua.js';

/** Looks at a lock that has no queue of ours: one in another service's format, or one node's part of a quorum. */
export const scripts = { look: new LuaScript(look) };
