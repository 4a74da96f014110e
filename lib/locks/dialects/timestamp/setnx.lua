-- The first step of the articles: SETNX. Who holds the lock already is told so.
-- Returns {kind, ms left, now, token}: 'held', 'late', or 'busy' where something stands there.
local lock, grant = KEYS[1], KEYS[2]
local holder, ttl, not_after, unit = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include "now"
--- @include "timestamp"
--- @include "ends-of"
--- @include "grant-of"
--- @include "still-his"

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local value = timestamp(now, ttl, unit)
if redis.call('SETNX', lock, value) == 1 then
  redis.call('SET', grant, value .. ' ' .. holder, 'PX', math.ceil(ends_of(value, unit) - now / 1000))
  return { 'held', tonumber(ttl), now, -1 }
end
local own, who = grant_of(grant)
if who == holder then
  local current = redis.pcall('GET', lock)
  if type(current) == 'string' and still_his(current, own, unit, now) then
    return { 'held', math.min(tonumber(ttl), math.floor(ends_of(own, unit) - now / 1000) - 1000), now, -1 }
  end
end
return { 'busy', -1, now, -1 }
