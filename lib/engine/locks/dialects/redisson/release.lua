-- Release the lock if it is the holder's, and wake its waiters.
-- Returns 1 if the lock was the holder's, else 0.
local lock, version = KEYS[1], KEYS[2]
local holder, publish, channel, message = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include no_replica

if redis.pcall('HEXISTS', lock, holder) ~= 1 then
  no_replica(lock)
  return 0
end
redis.call('DEL', lock, version)
redis.pcall(publish, channel, message)
return 1
