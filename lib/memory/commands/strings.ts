import type { Keyspace } from '../keyspace.js';
import { type Commands, lifeOf, OK, type Reply, syntaxError, wholeNumber } from './command.js';

function write(keys: Keyspace, key: string, value: string, endsAt = Infinity): void {
  keys.set(key, { type: 'string', value, endsAt });
}

function set(keys: Keyspace, key: string, value: string, options: readonly string[]): Reply {
  let endsAt = Infinity;
  let isWanted = true;
  let before: Reply | undefined;
  for (let at = 0; at < options.length; at += 1) {
    const option = options[at]!;
    const exists = keys.typeOf(key) !== undefined;
    if (option === 'NX') isWanted &&= !exists;
    else if (option === 'XX') isWanted &&= exists;
    else if (option === 'GET') before = keys.get('string', key) ?? null;
    else if (option === 'KEEPTTL') endsAt = keys.endOf(key) ?? Infinity;
    else if (option === 'PX') endsAt = Math.floor(keys.now) + lifeOf(options[(at += 1)]);
    else throw syntaxError();
  }
  if (isWanted) write(keys, key, value, endsAt);
  return before ?? (isWanted && before === undefined ? OK : null);
}

export const stringCommands: Commands = {
  GET: (keys, [key]) => keys.get('string', key!) ?? null,
  MGET: (keys, names) =>
    names.map((name) => (keys.typeOf(name) === 'string' ? keys.get('string', name)! : null)),
  SET: (keys, [key, value, ...options]) => set(keys, key!, value!, options),
  SETNX: (keys, [key, value]) => (set(keys, key!, value!, ['NX']) === null ? 0 : 1),
  GETSET: (keys, [key, value]) => set(keys, key!, value!, ['GET']),
  INCR: (keys, [key]) => {
    const next = wholeNumber(keys.get('string', key!) ?? '0') + 1;
    write(keys, key!, String(next), keys.endOf(key!));
    return next;
  },
};
