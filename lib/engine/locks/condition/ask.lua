-- Repeat the ask of a caller that awaits a condition or was signalled. If its time is over, or the server forgot its entry, the caller wakes and queues for the lock.
-- Returns as acquire.lua does. 'held', and 'queued' for a caller that awaits no longer, end in 1 if it was signalled, or may have been.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, ttl, tokens, not_after, inbox, arrival, condition, over, timestamp_compat = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]

--- @include now_us, ends_in, join_queue, first_token, grant_next, held_by, process_of, rewrite

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, 0 }
end

local current = redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, 0 }
elseif held_by(holder, current) then
  local left, token, count = redis.call('PTTL', lock), first_token(current, holder)
  rewrite(lock, left)
  return { 'held', left, now, 0, token, count, 1 }
end

local stem, process = holder .. '/' .. ttl, process_of(holder)
local awaiting = stem .. '/w' .. tokens .. '/' .. condition
local since = redis.call('ZSCORE', queue, awaiting)
if since and over == '0' then
  keep_waiting(process, now)
  grant_next(now, current, awaiting)
  return { 'queued', -1, now, 0, since, -1, 0 }
end

-- An entry that is gone may have been signalled, and counts as such: a waiter that wakes for nothing loses nothing.
local entry, signalled = stem .. '/c' .. tokens .. '/' .. condition, 1
if since or redis.call('ZSCORE', queue, stem .. '/x' .. tokens) then
  redis.call('ZREM', queue, awaiting)
  entry, signalled = stem .. '/x' .. tokens, 0
end
if (tonumber(arrival) or AWAITING) >= AWAITING then
  arrival = nil -- the arrival of an entry that awaits a condition is no turn for the lock
end
local at, rejoined = join_queue(entry, process, arrival, nil, redis.call('ZCARD', queue), now)
local granted = grant_next(now, current, entry)
if granted then
  return { 'held', tonumber(ttl), now, 0, granted[1], granted[2], signalled }
end
return { 'queued', ends_in(now, timestamp_compat), now, 0, at, redis.call('ZRANK', queue, entry), rejoined, signalled }
