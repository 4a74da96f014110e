-- Lengthen the lease if it is still the holder's; never shorten or restore it.
-- Returns the ms left; -2 if the lock is free, -3 if others hold it.
local lock, version = KEYS[1], KEYS[2]
local holder, ttl, mode = ARGV[1], tonumber(ARGV[2]), ARGV[3]

--- @include now_us, keep_version, no_replica, written_lease

local ms, ends = math.floor(now_us() / 1000), redis.pcall('ZSCORE', lock, holder)
if type(ends) ~= 'string' or tonumber(ends) <= ms then
  no_replica(lock)
  return redis.call('EXISTS', lock) == 1 and -3 or -2
elseif ends - ms >= ttl then
  return ends - ms
end
written_lease(lock, holder, ms + ttl, mode == 'write')
keep_version(version, math.max(ttl, redis.call('PTTL', lock)))
return ttl
