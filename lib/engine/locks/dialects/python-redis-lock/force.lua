-- Take the lock from its holder if the key is a string, wake one waiter as that library's reset() does, and tell a holder of ours.
-- Returns {the Redis type that was found, 1 if it was a lock; 2, without a change, if the holder is not that of `sight`}.
local lock, signal, version = KEYS[1], KEYS[2], KEYS[3]
local inbox, sight = ARGV[1], ARGV[2]

--- @include free_and_signal, tell_forced, sight_of

local found = redis.call('TYPE', lock).ok
if found ~= 'string' then
  return { found, 0 }
end
local holder = redis.call('GET', lock)
if sight and sight_of({ holder }) ~= sight then
  return { found, 2 }
end
free_and_signal(lock, signal)
redis.call('DEL', version)
tell_forced(inbox, { holder })
return { found, 1 }
