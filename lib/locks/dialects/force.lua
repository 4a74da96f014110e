-- Take the lock away from whoever holds it, if something of its type stands there, and wake those who wait for it.
-- Returns {the Redis type that was found, 1 if it was a lock}.
local lock, grant, version = KEYS[1], KEYS[2], KEYS[3]
local type, publish, channel, message, older = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include "wake-waiters"

local found = redis.call('TYPE', lock).ok
if found ~= type then
  return { found, 0 }
end
redis.call('DEL', lock, grant, version)
wake_waiters(publish, channel, older, message)
return { found, 1 }
