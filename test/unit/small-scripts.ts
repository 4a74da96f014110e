import { CommonOperands, LuaScript, MergedScript } from '../../lib/engine/redis/index.js';

// Small scripts: some that are sent alone, and one of each kind of which several runs may leave as one command.

/** Says what it was given. */
export const echo = new LuaScript(
  `local key = KEYS[1]
local first, second = ARGV[1], ARGV[2]
return { key, first, { second or 'none' } }`,
);

/** Counts at a key. */
export const count = new LuaScript(
  `local key = KEYS[1]
return redis.call('INCR', key)`,
);

/** Appends to a list; says how long that is, and what it was given. */
export const push = new LuaScript(
  `local list = KEYS[1]
local text, more = ARGV[1], ARGV[2]
return { redis.call('RPUSH', list, text), text, more or 'none' }`,
  'batchable',
);

/** Of two keys, as a lock has several. */
export const swap = new LuaScript(
  `local one, other = KEYS[1], KEYS[2]
local text = ARGV[1]
if text == 'fail' then return redis.error_reply('READONLY it says') end
if text == 'raise' then error('as Redis 6 does') end
if text == 'nothing' then return nil end
return { one, other, text }`,
  'batchable',
);

/** Takes all its runs by itself: appends the text of each to the list of each; says what all of them share. */
export const append = new MergedScript(
  `local shared = KEYS[1]
local not_after, word = ARGV[1], ARGV[2]
local runs, answers = (#KEYS - 1) / 2, {}
if word == 'one' then return 1 end
for nth = 1, runs do
  local list, other = KEYS[1 + nth], KEYS[1 + runs + nth]
  local text = ARGV[2 + nth]
  local answer = redis.pcall('RPUSH', list, text)
  answers[nth] = type(answer) == 'table' and answer or { shared, not_after, word, list, other, text }
end
return answers`,
);
/** What those runs have in common. */
export const all = new CommonOperands(['shared'], ['word']);

/** As `push`, but each time a command of its own. */
export const pushAlone = new LuaScript(`${push.step}\n`);
