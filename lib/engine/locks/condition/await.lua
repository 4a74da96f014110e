-- Release the asker's former lease and await a condition, in one step; the next waiter comes in.
-- Returns as acquire.lua does: 'queued' with 1 for the former lease; 'free' or 'taken' if the lock was not the asker's any more; 'late'; 'full' if the limit of entries that await is reached.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, ttl, tokens, not_after, inbox, limit, condition, former = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]

--- @include now_us, band_of, dead_among, grant_next, held_by, keep_waiting, no_replica

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, 0 }
end
local entry = holder .. '/' .. ttl .. '/w' .. tokens .. '/' .. condition
local since = redis.call('ZSCORE', queue, entry)
local new = not since
if new then
  local current = redis.pcall('GET', lock)
  if not held_by(former, current) then
    no_replica(lock)
    return { current and 'taken' or 'free', 0, now, 0 }
  end
  local entries = redis.call('ZCOUNT', queue, int_text(AWAITING), '+inf')
  local dead = dead_among(redis.call('ZCARD', queue) - entries, entries, process_of(holder), now)
  local full = entries - #dead >= tonumber(limit)
  if not full then
    local first, beyond = band_of(condition)
    local last = redis.call('ZREVRANGEBYSCORE', queue, '(' .. int_text(beyond), int_text(first), 'WITHSCORES', 'LIMIT', 0, 1)
    since = int_text(last[2] and last[2] + 1 or first)
    redis.call('DEL', lock)
    redis.call('ZADD', queue, since, entry)
  end
  if #dead > 0 then
    redis.call('ZREM', queue, unpack(dead))
  end
  if full then
    return { 'full', 0, now, 0 }
  end
end
keep_waiting(process_of(holder), now, new)
grant_next(now, redis.pcall('GET', lock))
return { 'queued', -1, now, 1, since, -1, 0 }
