import type { ChainableCommander } from 'ioredis';
import { newHolderId } from '../../lib/engine/locks/holder.js';

/** What is written, whether it is taken over where clients of the articles use the lock, and by what type it is known. */
export interface Value {
  readonly type: 'string' | 'zset' | 'hash' | 'list' | 'set' | 'stream';
  /** The formats whose lock it may be, and which do not take it. */
  readonly lockOf: readonly string[];
  readonly write: (to: ChainableCommander, key: string) => unknown;
}

const HOUR = 3_600_000;
const soon = Date.now() + HOUR;
/** Every string may be somebody's token, but only a time is a timestamp. */
const strings = ['plain', 'spring', 'python-redis-lock'];
const text = (value: string, ttl?: number): Value => ({
  type: 'string',
  lockOf: strings,
  write: (to, key) => (ttl ? to.set(key, value, 'PX', ttl) : to.set(key, value)),
});

/** Twenty-seven kinds of values that an application, or another library, may have where a lock is asked for. */
export const values: Readonly<Record<string, Value>> = {
  'a word': text('somebody'),
  'an empty string': text(''),
  'a flag': text('1'),
  'a counter with an end': text('4711', HOUR),
  'a number below zero': text('-1'),
  'a hex number': text('0x10'),
  'a number with an exponent': text('1.7e9'),
  'a token that begins with digits': text('1600000000abc', HOUR),
  'a UUID': text('550e8400-e29b-41d4-a716-446655440000', HOUR),
  'a JSON object': text('{"owner":"me","until":1600000000}'),
  'a JSON array, with an end': text('[1,2,3]', HOUR),
  'binary text': text('\u0000\u0001 \u{1F512}'),
  'an id of ours on a host of digits': text(newHolderId('4f2a.7.aBcDeFgHiJk'), HOUR),
  'a hash of an application': {
    type: 'hash',
    lockOf: [],
    write: (to, key) => to.hset(key, 'name', 'Ada', 'visits', 3),
  },
  'a hash of counts, with an end': {
    type: 'hash',
    lockOf: [],
    write: (to, key) => to.hset(key, 'a:1', 2, 'total', 3).pexpire(key, HOUR),
  },
  'a hash with a mode of its own': {
    type: 'hash',
    lockOf: [],
    write: (to, key) => to.hset(key, 'mode', 'dark', 'a:1', 1).pexpire(key, HOUR),
  },
  'a hash with a mode and nothing else, with an end': {
    type: 'hash',
    lockOf: [],
    write: (to, key) => to.hset(key, 'mode', 'read').pexpire(key, HOUR),
  },
  'a hash of names by number, with an end': {
    type: 'hash',
    lockOf: [],
    write: (to, key) => to.hset(key, 'user:1', 'Ada', 'user:2', 'Grace').pexpire(key, HOUR),
  },
  'a large hash of counts, with an end': {
    type: 'hash',
    lockOf: [],
    write: (to, key) => {
      const counts = Array.from({ length: 1_001 }, (_, nth) => [`item:${nth}`, 1]);
      return to.hset(key, Object.fromEntries(counts)).pexpire(key, HOUR);
    },
  },
  'a sorted set of ranks': {
    type: 'zset',
    lockOf: [],
    write: (to, key) => to.zadd(key, 1, 'first', 2, 'second'),
  },
  'a sorted set of past times, with an end': {
    type: 'zset',
    lockOf: [],
    write: (to, key) => to.zadd(key, Date.now() - 9, 'a', Date.now() - 5, 'b').pexpire(key, HOUR),
  },
  'a sorted set of what happened just now': {
    type: 'zset',
    lockOf: [],
    write: (to, key) => to.zadd(key, Date.now() - 5_000, 'a', Date.now() + 500, 'b'),
  },
  'a sorted set of times to come': {
    type: 'zset',
    lockOf: [],
    write: (to, key) => to.zadd(key, soon, 'job:1', soon + 1, 'job:2'),
  },
  'a sorted set of times to come, with another end': {
    type: 'zset',
    lockOf: [],
    write: (to, key) => to.zadd(key, 5, 'a', soon, 'job:1').pexpireat(key, soon),
  },
  'a list': { type: 'list', lockOf: [], write: (to, key) => to.rpush(key, 'a', 'b') },
  'a set': { type: 'set', lockOf: [], write: (to, key) => to.sadd(key, 'a', 'b') },
  'a stream': { type: 'stream', lockOf: [], write: (to, key) => to.xadd(key, '1-1', 'a', 'b') },
};
