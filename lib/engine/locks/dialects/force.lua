-- Take the lock from its holder if the key has the lock's type, wake its waiters, and tell a holder of ours.
-- Returns {the Redis type that was found, 1 if it was a lock; 2, without a change, if the holder is not that of `sight`}.
local lock, grant, version = KEYS[1], KEYS[2], KEYS[3]
local type, publish, channel, message, older, inbox, sight = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]

--- @include wake_waiters, tell_forced, sight_of

local found = redis.call('TYPE', lock).ok
if found ~= type then
  return { found, 0 }
end
local holder = redis.call('GET', lock)
if sight and sight_of({ holder }) ~= sight then
  return { found, 2 }
end
redis.call('DEL', lock, grant, version)
wake_waiters(publish, channel, older, message)
tell_forced(inbox, { holder })
return { found, 1 }
