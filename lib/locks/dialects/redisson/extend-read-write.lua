-- Lengthen a lease on an RReadWriteLock if it is still the holder's, and of a reader its own key; never shorten it, never bring it back.
-- Returns the ms left; -2 where the lock is free, -3 where it is others'.
local lock, hold, version = KEYS[1], KEYS[2], KEYS[3]
local holder, ttl, mode = ARGV[1], tonumber(ARGV[2]), ARGV[3]

--- @include "keep-version"

local left = redis.call('PTTL', mode == 'read' and hold or lock)
if left <= 0 or redis.pcall('HEXISTS', lock, holder) ~= 1 then
  return redis.call('EXISTS', lock) == 1 and -3 or -2
elseif left >= ttl then
  return left
end
if mode == 'read' then
  redis.call('PEXPIRE', hold, ttl)
end
if redis.call('PTTL', lock) < ttl then
  redis.call('PEXPIRE', lock, ttl)
end
keep_version(version, redis.call('PTTL', lock))
return ttl
