import { LuaScript } from '../../redis/index.js';
import { NATIVE_KEYS } from '../native-keys.js';
import ask from './ask.lua.js';
import awaiting from './await.lua.js';
import leave from './leave.lua.js';
import signal from './signal.lua.js';

const WHO = ['holder', 'ttl', 'tokens'] as const;

/** The steps of who awaits a condition of a lock. */
export const scripts = {
  await: new LuaScript(awaiting, NATIVE_KEYS, [
    ...WHO,
    'not_after',
    'inbox',
    'limit',
    'condition',
    'former',
  ]),
  ask: new LuaScript(ask, NATIVE_KEYS, [
    ...WHO,
    'not_after',
    'inbox',
    'arrival',
    'condition',
    'over',
    'guard',
  ]),
  leave: new LuaScript(leave, NATIVE_KEYS, [...WHO, 'inbox', 'condition']),
  signal: new LuaScript(signal, ['lock', 'queue', 'seen'], ['holder', 'condition', 'most', 'last']),
};
