-- Remove an entry that awaits a condition, was signalled or queues again, and release the lock if it was granted. A signal that the leaver got, or may have got, goes to the next, unless the leaver is known to be `unsignalled`.
-- Returns 1 if the lock was the leaver's, else 0.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, ttl, tokens, inbox, condition, unsignalled = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--- @include now_us, pass_signal_on, grant_next, held_by

local now, stem = now_us(), holder .. '/' .. ttl
redis.call('ZREM', queue, stem .. '/w' .. tokens .. '/' .. condition, stem .. '/x' .. tokens)
local signalled = redis.call('ZREM', queue, stem .. '/c' .. tokens .. '/' .. condition) == 1
local current = redis.pcall('GET', lock)
local mine = held_by(holder, current)
if mine then
  redis.call('DEL', lock)
  current = false
end
if (signalled or mine) and not unsignalled then
  pass_signal_on(holder, condition, now)
end
if redis.call('EXISTS', queue) == 1 then
  grant_next(now, current)
end
return mine and 1 or 0
