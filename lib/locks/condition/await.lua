-- Give the asker's former lease back and await a condition, in one step; the next waiter comes in.
-- Returns as acquire.lua does: 'queued' with 1 for the former lease, 'busy' if the lock was not his any more, 'late', 'full'.
local lock, queue, seen, fence, holders = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local holder, ttl, tokens, not_after, inbox, limit, condition, former = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

--- @include "now"
--- @include "grant-next"
--- @include "keep-waiting"
--- @include "process-of"

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, 0 }
end
local place = holder .. '/' .. ttl .. '/w' .. tokens .. '/' .. condition
local since = redis.call('ZSCORE', queue, place)
local new = not since
if new then
  if redis.pcall('GET', lock) ~= former then
    return { 'busy', 0, now, 0 }
  end
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', queue, whole(AWAITING), '+inf', 'LIMIT', 0, 100)) do
    if not lives(process_of(other), now) then
      redis.call('ZREM', queue, other) -- nobody may ever signal the dead
    end
  end
  if redis.call('ZCARD', queue) >= tonumber(limit) then
    return { 'full', 0, now, 0 }
  end
  local last = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')
  since = whole(math.max(now + AWAITING, (tonumber(last[2]) or 0) + 1))
  redis.call('DEL', lock)
  redis.call('ZADD', queue, since, place)
end
keep_waiting(process_of(holder), now, new)
grant_next(now, redis.pcall('GET', lock))
return { 'queued', -1, now, 1, since, -1, 0 }
