-- Take the lock away from all who hold it, if it is one and Redis ends it, as each lock of Redisson; and wake those who wait for it.
-- Returns {the Redis type that was found, 1 if it was a lock}.
local lock, version = KEYS[1], KEYS[2]
local publish, channel, message, older = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include "is-redisson-lock"
--- @include "wake-waiters"

local found = redis.call('TYPE', lock).ok
if found ~= 'hash' or redis.call('PTTL', lock) < 0 or not is_redisson_lock(lock) then
  return { found, 0 }
end
redis.call('DEL', lock, version)
wake_waiters(publish, channel, older, message)
return { found, 1 }
