import { LuaScript } from '../../redis/index.js';
import force from './force.lua.js';
import tryOut from './try-out.lua.js';

/** The steps that are the same in most dialects. */
export const scripts = {
  /** Tries what a dialect needs on a key of no lock. */
  tryOut: new LuaScript(tryOut),
  force: new LuaScript(force),
};
