-- Take the lock away from all who hold it, if it is one, and tell those of ours.
-- Returns {the Redis type that was found, 1 if it was a lock}.
local lock, version = KEYS[1], KEYS[2]
local inbox = ARGV[1]

--- @include "now"
--- @include "is-symfony-lock"
--- @include "tell-forced"

local found = redis.call('TYPE', lock).ok
if found ~= 'zset' or not is_symfony_lock(lock, math.floor(now_us() / 1000)) then
  return { found, 0 }
end
local holders = redis.call('ZRANGE', lock, 0, -1)
redis.call('DEL', lock, version)
tell_forced(inbox, holders)
return { found, 1 }
