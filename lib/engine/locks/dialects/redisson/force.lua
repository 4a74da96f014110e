-- Take the lock from all its holders, if the hash is a lock that expires, as each lock of Redisson does. Wake its waiters, and tell holders of ours.
-- Returns {the Redis type that was found, 1 if it was a lock; 2, without a change, if the holders are not those of `sight`}.
local lock, version = KEYS[1], KEYS[2]
local publish, channel, message, older, inbox, sight = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--- @include is_redisson_lock, wake_waiters, tell_forced, sight_of

local found = redis.call('TYPE', lock).ok
if found ~= 'hash' or redis.call('PTTL', lock) < 0 or not is_redisson_lock(lock) then
  return { found, 0 }
end
local holders = redis.call('HKEYS', lock)
if sight and sight_of(holders) ~= sight then
  return { found, 2 }
end
redis.call('DEL', lock, version)
wake_waiters(publish, channel, older, message)
tell_forced(inbox, holders)
return { found, 1 }
