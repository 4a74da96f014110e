import { type Keyspace, RefusedCommand } from '../keyspace.js';
import { type Bound, type Member, SortedSet } from '../sorted-set.js';
import { type Commands, type Reply, syntaxError, wholeNumber } from './command.js';

function members(keys: Keyspace, key: string): SortedSet {
  return keys.get('zset', key) ?? new SortedSet();
}

/** @throws RefusedCommand for a text that is no number, as Redis does. */
function scoreOf(text: string | undefined): number {
  const score = Number(text?.replace(/inf$/, 'Infinity') || Number.NaN);
  if (!Number.isNaN(score)) return score;
  throw new RefusedCommand('ERR value is not a valid float');
}

function boundOf(text: string | undefined): Bound {
  const isOpen = text?.startsWith('(') ?? false;
  return { score: scoreOf(isOpen ? text!.slice(1) : text), isOpen };
}

/** The members whose scores are between two bounds. */
function between(keys: Keyspace, key: string, low?: string, high?: string): Member[] {
  return members(keys, key).between(boundOf(low), boundOf(high));
}

function remove(keys: Keyspace, key: string, names: readonly string[]): number {
  const found = keys.get('zset', key);
  const removed = names.filter((name) => found?.remove(name)).length;
  if (found?.size === 0) keys.delete(key);
  return removed;
}

function add(keys: Keyspace, key: string, operands: readonly string[]): Reply {
  const [option] = operands;
  const only = option === 'NX' || option === 'XX' ? option : undefined;
  const pairs = only ? operands.slice(1) : operands;
  if (pairs.length === 0 || pairs.length % 2 > 0) throw syntaxError();
  let added = 0;
  for (let at = 0; at < pairs.length; at += 2) {
    const [score, name] = [scoreOf(pairs[at]), pairs[at + 1]!];
    const isKnown = members(keys, key).score(name) !== undefined;
    if (only === (isKnown ? 'NX' : 'XX')) continue;
    if (keys.make('zset', key).add(name, score)) added += 1;
  }
  return added;
}

function withScores(found: readonly Member[], isWanted: boolean): Reply[] {
  return found.flatMap(({ name, score }) => (isWanted ? [name, String(score)] : [name]));
}

/** Applies the options `WITHSCORES` and `LIMIT offset count` to a range. */
function limited(found: readonly Member[], options: readonly string[]): Reply[] {
  const [first, limit, offset, count] =
    options[0] === 'WITHSCORES' ? options : [undefined, ...options];
  if (limit === undefined) return withScores(found, first !== undefined);
  if (limit !== 'LIMIT') throw syntaxError();
  const [from, most] = [wholeNumber(offset), wholeNumber(count)];
  return withScores(found.slice(from, most < 0 ? undefined : from + most), first !== undefined);
}

export const sortedSetCommands: Commands = {
  ZADD: (keys, [key, ...operands]) => add(keys, key!, operands),
  ZREM: (keys, [key, ...names]) => remove(keys, key!, names),
  ZCARD: (keys, [key]) => members(keys, key!).size,
  ZSCORE: (keys, [key, name]) => {
    const score = members(keys, key!).score(name!);
    return score === undefined ? null : String(score);
  },
  ZRANK: (keys, [key, name]) => members(keys, key!).rank(name!) ?? null,
  ZCOUNT: (keys, [key, low, high]) => between(keys, key!, low, high).length,
  ZRANGE: (keys, [key, first, last, scores]) => {
    const found = members(keys, key!).ranks(wholeNumber(first), wholeNumber(last));
    return withScores(found, scores === 'WITHSCORES');
  },
  ZREVRANGE: (keys, [key, first, last, scores]) => {
    const found = members(keys, key!);
    const ranks = found.ranks(-1 - wholeNumber(last), -1 - wholeNumber(first));
    return withScores(ranks.toReversed(), scores === 'WITHSCORES');
  },
  ZRANGEBYSCORE: (keys, [key, low, high, ...options]) =>
    limited(between(keys, key!, low, high), options),
  ZREVRANGEBYSCORE: (keys, [key, high, low, ...options]) =>
    limited(between(keys, key!, low, high).toReversed(), options),
  ZREMRANGEBYSCORE: (keys, [key, low, high]) => {
    const names = between(keys, key!, low, high).map(({ name }) => name);
    return remove(keys, key!, names);
  },
};
