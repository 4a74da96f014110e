-- Give the lock back if it is the holder's, and wake one who waits for it.
-- Returns 1 if it was the holder's, else 0.
local lock, signal, version = KEYS[1], KEYS[2], KEYS[3]
local holder = ARGV[1]

--- @include "free-and-signal"

if redis.pcall('GET', lock) ~= holder then
  return 0
end
free_and_signal(lock, signal)
redis.call('DEL', version)
return 1
