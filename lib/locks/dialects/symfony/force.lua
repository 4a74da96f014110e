-- Take the lock away from all who hold it, if it is one.
-- Returns {the Redis type that was found, 1 if it was a lock}.
local lock, version = KEYS[1], KEYS[2]

--- @include "now"
--- @include "is-symfony-lock"

local found = redis.call('TYPE', lock).ok
if found ~= 'zset' or not is_symfony_lock(lock, math.floor(now_us() / 1000)) then
  return { found, 0 }
end
redis.call('DEL', lock, version)
return { found, 1 }
