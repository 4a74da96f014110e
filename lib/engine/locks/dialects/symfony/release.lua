-- Release the lock if it is the holder's; other readers keep theirs.
-- Returns 1 if the lock was the holder's, else 0.
local lock, version = KEYS[1], KEYS[2]
local holder = ARGV[1]

--- @include now_us, no_replica

local ends = redis.pcall('ZSCORE', lock, holder)
if type(ends) ~= 'string' then
  no_replica(lock)
  return 0
end
redis.call('ZREM', lock, holder, '__write__')
local longest = redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2]
if longest then
  redis.call('PEXPIREAT', lock, longest)
else
  redis.call('DEL', version)
end
return tonumber(ends) > math.floor(now_us() / 1000) and 1 or 0
