-- Lengthen the lease if it is still the holder's; never shorten it, never bring it back.
-- Returns the ms left; -2 where the lock is free, -3 where it is others'.
local lock, version = KEYS[1], KEYS[2]
local holder, ttl, mode = ARGV[1], tonumber(ARGV[2]), ARGV[3]

--- @include now_us, keep_version, written_lease

local ms, ends = math.floor(now_us() / 1000), redis.pcall('ZSCORE', lock, holder)
if type(ends) ~= 'string' or tonumber(ends) <= ms then
  return redis.call('EXISTS', lock) == 1 and -3 or -2
elseif ends - ms >= ttl then
  return ends - ms
end
written_lease(lock, holder, ms + ttl, mode == 'write')
keep_version(version, math.max(ttl, redis.call('PTTL', lock)))
return ttl
