import { LuaScript } from '../../../redis/index.js';
import { scripts as plain } from '../plain/scripts.js';
import release from './release.lua.js';

/** The steps of a lock of a RedisLockRegistry: a plain lock that wakes when it is given back. */
export const scripts = {
  ...plain,
  release: new LuaScript(
    release,
    ['lock'],
    ['holder', 'publish', 'channel', 'message', 'older', 'keep'],
  ),
};
