-- The first step of the articles: SETNX. An asker that already holds the lock is told so.
-- Returns {kind, ms left, now, token}: 'held' and 1; 'late', or 'busy' if the key is taken.
local lock, grant = KEYS[1], KEYS[2]
local holder, ttl, not_after, unit = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include now_us, timestamp, ends_of, grant_of, still_own, write_grant

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local value = timestamp(now, ttl, unit)
if redis.call('SETNX', lock, value) == 1 then
  write_grant(grant, holder, value, unit, now)
  return { 'held', tonumber(ttl), now, -1, 1 }
end
local own = grant_of(grant)
if still_own(redis.pcall('GET', lock), own, holder, unit, now) then
  local left = math.min(tonumber(ttl), math.floor(ends_of(own.value, unit) - now / 1000) - 1000)
  return { 'held', left, now, -1, 1 }
end
return { 'busy', -1, now, -1 }
