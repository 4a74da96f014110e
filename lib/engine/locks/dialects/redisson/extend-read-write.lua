-- Lengthen a lease on an RReadWriteLock if it is still the holder's, and a reader's own key; never shorten or restore it. The hash is lengthened in any case: a Java reader may have shortened it.
-- Returns the ms left; -2 if the lock is free, -3 if others hold it.
local lock, hold, version = KEYS[1], KEYS[2], KEYS[3]
local holder, ttl, mode = ARGV[1], tonumber(ARGV[2]), ARGV[3]

--- @include keep_version, no_replica

local left = redis.call('PTTL', mode == 'read' and hold or lock)
if left <= 0 or redis.pcall('HEXISTS', lock, holder) ~= 1 then
  no_replica(lock)
  return redis.call('EXISTS', lock) == 1 and -3 or -2
end
if mode == 'read' and left < ttl then
  redis.call('PEXPIRE', hold, ttl)
end
left = math.max(left, ttl)
if redis.call('PTTL', lock) < left then
  redis.call('PEXPIRE', lock, left)
end
keep_version(version, redis.call('PTTL', lock))
return left
