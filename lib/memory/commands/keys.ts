import type { Keyspace } from '../keyspace.js';
import { type Commands, type Reply, syntaxError, wholeNumber } from './command.js';

/** Sets the expiry of a key; with GT only if the new one is later. */
function expire(keys: Keyspace, key: string, endsAt: number, option: string | undefined): Reply {
  const before = keys.endOf(key);
  if (option !== undefined && option !== 'GT') throw syntaxError();
  if (before === undefined || (option === 'GT' && endsAt <= before)) return 0;
  keys.end(key, endsAt);
  return 1;
}

/** Commands on keys of any type, and the clock. */
export const keyCommands: Commands = {
  DEL: (keys, names) => names.filter((name) => keys.delete(name)).length,
  EXISTS: (keys, names) => names.filter((name) => keys.typeOf(name)).length,
  TYPE: (keys, [key]) => ({ ok: keys.typeOf(key!) ?? 'none' }),
  PTTL: (keys, [key]) => {
    const end = keys.endOf(key!);
    if (end === undefined) return -2;
    return end === Infinity ? -1 : end - Math.floor(keys.now);
  },
  PEXPIRE: (keys, [key, ms, option]) =>
    expire(keys, key!, Math.floor(keys.now) + wholeNumber(ms), option),
  PEXPIREAT: (keys, [key, at, option]) => expire(keys, key!, wholeNumber(at), option),
  RENAMENX: (keys, [from, to]) => {
    if (keys.typeOf(to!)) return 0;
    keys.rename(from!, to!);
    return 1;
  },
  TIME: ({ now }) => {
    const micros = Math.floor(now * 1_000);
    return [String(Math.floor(micros / 1_000_000)), String(micros % 1_000_000)];
  },
};
