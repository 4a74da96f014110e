import { LuaScript } from '../../redis/index.js';
import generation from './generation.lua.js';

/** The step by which a server is admitted. */
export const scripts = {
  generation: new LuaScript(generation, ['generation'], ['run', 'quarantine']),
};
