import { createHash } from 'node:crypto';
import { LockKeyError, LockOptionsError } from '../errors/index.js';

/** A Lua script that runs its body only if the token is not stale. */
export interface GuardedScript {
  readonly source: string;
  readonly sha: string;
}

/** The body sees its own keys and arguments; the keys' fences and the token stand beside them. */
const before = 'local function body(KEYS, ARGV)\n';
const after = `
end
local token, retention, count = ARGV[1], ARGV[2], #KEYS / 2
local keys, args = {}, {}
for i = 1, count do
  local newest = redis.call('GET', KEYS[count + i])
  if newest and tonumber(newest) > tonumber(token) then
    return { 0, newest, i }
  end
  keys[i] = KEYS[i]
end
for i = 1, count do
  if retention == '' then
    redis.call('SET', KEYS[count + i], token)
  else
    redis.call('SET', KEYS[count + i], token, 'PX', retention)
  end
end
for i = 3, #ARGV do
  args[i - 2] = ARGV[i]
end
local reply = body(keys, args)
if type(reply) == 'table' and reply.err then
  return reply
end
return { 1, reply }`;

/**
 * Puts the guard around a script. The guard refuses a token older than that of any of its keys. It remembers the token
 * before the body runs, so that no older write follows a body which fails half-way. The script returns {1, reply}, or {0,
 * the newest token, the place of its key}.
 */
export function guardedScript(body: string): GuardedScript {
  const source = before + body + after;
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/** Runs any command whose first operand is its one key. */
export const guardedCommand = guardedScript('return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))');

/**
 * The Redis key that remembers the newest token for `key`, without the client's prefix. Both lie in one
 * cluster slot, and no two keys share one.
 * @throws LockKeyError if no name can lie in the key's slot.
 */
export function fenceKey(prefix: string, key: string): string {
  if (typeof key !== 'string' || key === '') {
    throw new LockKeyError('A key that is guarded by fencing tokens is a string, not empty.');
  }
  const whole = prefix + key;
  if (/^[^{]*\{[^}]+\}/.test(whole)) return `${key}{}:fenced-by`;
  if (!whole.includes('}')) return `{${whole}}:fenced-by`;
  throw new LockKeyError(
    'A key that is guarded by fencing tokens has a closing brace without a {hash tag} before it.',
  );
}

/** Commands that write other keys than their first operand, or whose first operand is no key. */
const OTHER_KEYS = new Set(
  'MSET MSETNX MSETEX RENAME RENAMENX COPY MIGRATE SMOVE LMOVE RPOPLPUSH LMPOP ZMPOP BITOP PFMERGE SORT SDIFFSTORE SINTERSTORE SUNIONSTORE ZDIFFSTORE ZINTERSTORE ZUNIONSTORE ZRANGESTORE GEOSEARCHSTORE GEORADIUS GEORADIUSBYMEMBER XGROUP XREADGROUP JSON.MSET TS.MADD FLUSHALL FLUSHDB SWAPDB PUBLISH SPUBLISH BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZMPOP BZPOPMIN BZPOPMAX'.split(
    ' ',
  ),
);
/** Lua 5.1 hands on fewer than 8,000 operands. */
const MOST_OPERANDS = 7_900;
/** Commands that take any number of keys. */
const MANY_KEYS = new Set(['DEL', 'UNLINK']);

/**
 * Refuses a command that a guard of one key would only seem to guard.
 * @throws LockOptionsError if the command writes other keys than its first operand, or has too many operands.
 */
export function checkSingleKey(command: string, operandsAfterKey: number): void {
  const name = command.toUpperCase();
  if (operandsAfterKey > MOST_OPERANDS) {
    throw new LockOptionsError(
      `${name} has ${operandsAfterKey} operands, and Redis' Lua takes ${MOST_OPERANDS} at most: write in parts, or by eval(source, keys, args).`,
    );
  }
  if (!OTHER_KEYS.has(name) && !(MANY_KEYS.has(name) && operandsAfterKey > 0)) return;
  throw new LockOptionsError(
    `${name} writes other keys than its first operand: put it into a script, eval(source, keys, args), where all are guarded.`,
  );
}
