-- Release an RReadWriteLock if it is the holder's. After a reader, the lock lasts as long as the longest lease of the others; the last reader, or a writer, deletes it and wakes its waiters.
-- Returns 1 if the lock was the holder's, else 0.
local lock, hold, version = KEYS[1], KEYS[2], KEYS[3]
local holder, publish, channel, mode, holds = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include no_replica

if redis.pcall('HEXISTS', lock, holder) ~= 1 then
  no_replica(lock)
  return 0
end
if mode == 'write' then
  redis.call('DEL', lock, version)
  redis.pcall(publish, channel, '1')
  return 1
end
local mine = redis.call('DEL', hold)
redis.call('HDEL', lock, holder)
local longest = 0
for _, other in ipairs(redis.call('HKEYS', lock)) do
  for nth = 1, tonumber(redis.call('HGET', lock, other)) or 0 do
    longest = math.max(longest, redis.call('PTTL', holds .. other .. ':rwlock_timeout:' .. nth))
  end
end
if longest > 0 then
  redis.call('PEXPIRE', lock, longest)
else
  redis.call('DEL', lock, version)
  redis.pcall(publish, channel, '0')
end
return mine
