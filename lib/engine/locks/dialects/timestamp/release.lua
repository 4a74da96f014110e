-- Release the lock while it is the holder's; later it may be another's. With `keep`, nobody has it for the rest of a minimum hold.
-- Returns 1 if the lock was the holder's, else 0.
local lock, grant, version = KEYS[1], KEYS[2], KEYS[3]
local holder, unit, keep = ARGV[1], ARGV[2], ARGV[3]

--- @include now_us, no_replica, timestamp, ends_of, grant_of, still_own

local own = grant_of(grant)
if own.holder ~= holder then
  no_replica(lock)
  return 0
end
redis.call('DEL', grant, version)
local current, now = redis.pcall('GET', lock), now_us()
if not still_own(current, own, holder, unit, now) then
  return 0
elseif keep then
  redis.call('SET', lock, timestamp(now, keep, unit), 'PX', keep)
else
  redis.call('DEL', lock)
end
return 1
