-- The third step of the articles: GETSET, which takes over if the value is still the one that was seen, or gone. Otherwise another client was faster, and its time stays.
-- Returns {kind, ms left, now, token}: 'held' and 1; 'busy' or 'late'.
local lock, grant = KEYS[1], KEYS[2]
local holder, ttl, not_after, unit, seen = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include now_us, timestamp, ends_of, write_grant

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local current = redis.pcall('GET', lock)
if current and current ~= seen then
  return { 'busy', -1, now, -1 }
end
local value = timestamp(now, ttl, unit)
redis.call('GETSET', lock, value)
write_grant(grant, holder, value, unit, now)
return { 'held', tonumber(ttl), now, -1, 1 }
