-- Take the lock away from whoever holds it, if a string stands there, and wake one who waits for it, as its reset() does; and tell a holder of ours.
-- Returns {the Redis type that was found, 1 if it was a lock; 2, and does nothing, if others hold it than `sight` says}.
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
