-- Take the lock away from whoever holds it, if a time stands there. One that is past is nobody's, and stays.
-- Returns {the Redis type that was found or 'none', 1 if it was a lock}.
local lock, grant, version = KEYS[1], KEYS[2], KEYS[3]
local unit = ARGV[1]

--- @include "now"
--- @include "ends-of"

local found = redis.call('TYPE', lock).ok
local ends = found == 'string' and ends_of(redis.call('GET', lock), unit)
if not ends then
  return { found, 0 }
elseif ends < now_us() / 1000 and redis.call('PTTL', lock) == -1 then
  return { 'none', 0 }
end
redis.call('DEL', lock, grant, version)
return { found, 1 }
