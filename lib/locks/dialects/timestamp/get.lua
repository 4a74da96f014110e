-- The second step: GET, to see whether the time that stands there is past.
-- Returns {kind, ms left or what stands there, now, token, value}: 'past' with what was seen, 'busy', or 'foreign'.
local lock = KEYS[1]
local unit = ARGV[1]

--- @include "now"
--- @include "ends-of"

local current, now = redis.pcall('GET', lock), now_us()
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, -1 }
end
local ends = ends_of(current, unit)
if ends and ends < now / 1000 then
  return { 'past', 0, now, -1, current }
end
local left = current and (ends and math.ceil(ends - now / 1000) or -1)
return { 'busy', left or 0, now, -1 }
