import { createHash } from 'node:crypto';

/** A Lua script that runs a body only under a token that is not stale. */
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
 * Puts the guard around a script: it refuses a token older than that of any of its keys, and remembers
 * the token before the body runs, so that a body which fails half-way lets no older one in after it.
 * Returns {1, reply}, or {0, the newest token, the place of its key}.
 */
export function guardedScript(body: string): GuardedScript {
  const source = before + body + after;
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/** Any command whose first operand is its one key. */
export const guardedCommand = guardedScript('return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))');
