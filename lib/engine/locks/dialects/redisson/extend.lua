-- Lengthen the lease if it is still the holder's; never shorten or restore it.
-- Returns the ms left; -2 if the lock is free, -3 if it is another holder's.
local lock, version = KEYS[1], KEYS[2]
local holder, ttl = ARGV[1], tonumber(ARGV[2])

--- @include keep_version, no_replica

if redis.pcall('HEXISTS', lock, holder) ~= 1 then
  no_replica(lock)
  return redis.call('EXISTS', lock) == 1 and -3 or -2
end
local left = redis.call('PTTL', lock)
if left >= ttl then
  return left
end
redis.call('PEXPIRE', lock, ttl)
keep_version(version, ttl)
return ttl
