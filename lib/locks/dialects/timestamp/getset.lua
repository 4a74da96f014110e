-- The third step: GETSET, which takes over if what it finds is what was seen, or nothing. Else another was faster, and his time has become ours.
-- Returns {kind, ms left, now, token}: 'held', 'busy' or 'late'.
local lock, grant = KEYS[1], KEYS[2]
local holder, ttl, not_after, unit, seen = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include "now"
--- @include "timestamp"
--- @include "ends-of"

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local value = timestamp(now, ttl, unit)
local old = redis.call('GETSET', lock, value)
if old and old ~= seen then
  return { 'busy', -1, now, -1 }
end
redis.call('SET', grant, value .. ' ' .. holder, 'PX', math.ceil(ends_of(value, unit) - now / 1000))
return { 'held', tonumber(ttl), now, -1 }
