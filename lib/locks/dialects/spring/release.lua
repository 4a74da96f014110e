-- Give the lock back if it is the holder's and wake those who wait for it, or let nobody keep it for the rest of a minimum hold.
-- Returns 1 if it was the holder's, else 0.
local lock, version = KEYS[1], KEYS[2]
local holder, publish, channel, message, older, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--- @include "wake-waiters"

if redis.pcall('GET', lock) ~= holder then
  return 0
elseif keep then
  redis.call('PEXPIRE', lock, keep) -- never refused: lets the rest pass when memory is short
  redis.call('SET', lock, 'kept', 'PX', keep)
else
  redis.call('DEL', lock)
  wake_waiters(publish, channel, older, message)
end
redis.call('DEL', version)
return 1
