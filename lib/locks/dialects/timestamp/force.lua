-- Take the lock away from whoever holds it, if a time stands there. One that is past is nobody's, and stays.
-- Returns {the Redis type that was found or 'none', 1 if it was a lock}.
local lock, grant, version = KEYS[1], KEYS[2], KEYS[3]
local unit = ARGV[1]

--- @include "now"
--- @include "ends-of"
--- @include "past-from"

local found = redis.call('TYPE', lock).ok
local current = found == 'string' and redis.call('GET', lock)
if not ends_of(current, unit) then
  return { found, 0 }
elseif past_from(current) < now_us() / 1000 and redis.call('PTTL', lock) == -1 then
  return { 'none', 0 }
end
redis.call('DEL', lock, grant, version)
return { found, 1 }
