-- Give the lock back if it is the holder's, or let nobody keep it for the rest of a minimum hold.
-- Returns 1 if it was the holder's, else 0.
local lock, grant, version = KEYS[1], KEYS[2], KEYS[3]
local holder, kept, keep, timestamp_compat = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include "now"
--- @include "overwritten"

local current = redis.pcall('GET', lock)
if current ~= holder and not (timestamp_compat and overwritten(lock, grant, holder, current, now_us())) then
  return 0
elseif keep and keep ~= '' then
  redis.call('PEXPIRE', lock, keep) -- never refused: lets the rest pass when memory is short
  redis.call('SET', lock, kept, 'PX', keep)
else
  redis.call('DEL', lock)
end
redis.call('DEL', version)
if timestamp_compat then
  redis.call('DEL', grant)
end
return 1
