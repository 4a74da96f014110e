import type { Keyspace } from '../keyspace.js';
import { type Commands, OK, wholeNumber } from './command.js';

function hash(keys: Keyspace, key: string): ReadonlyMap<string, string> {
  return keys.get('hash', key) ?? new Map<string, string>();
}

/** Commands on hashes and lists. */
export const collectionCommands: Commands = {
  HGET: (keys, [key, field]) => hash(keys, key!).get(field!) ?? null,
  HEXISTS: (keys, [key, field]) => (hash(keys, key!).has(field!) ? 1 : 0),
  HKEYS: (keys, [key]) => [...hash(keys, key!).keys()],
  HLEN: (keys, [key]) => hash(keys, key!).size,
  HSET: (keys, [key, ...pairs]) => {
    const fields = keys.make('hash', key!);
    const { size } = fields;
    for (let at = 0; at < pairs.length; at += 2) fields.set(pairs[at]!, pairs[at + 1]!);
    return fields.size - size;
  },
  HDEL: (keys, [key, ...names]) => {
    const fields = keys.get('hash', key!);
    const removed = names.filter((name) => fields?.delete(name)).length;
    if (fields?.size === 0) keys.delete(key!);
    return removed;
  },
  LPUSH: (keys, [key, ...items]) => keys.make('list', key!).unshift(...items.toReversed()),
  LTRIM: (keys, [key, first, last]) => {
    const list = keys.get('list', key!) ?? [];
    const [from, to] = [wholeNumber(first), wholeNumber(last)];
    list.splice(0, list.length, ...list.slice(from, to === -1 ? undefined : to + 1));
    if (list.length === 0) keys.delete(key!);
    return OK;
  },
};
