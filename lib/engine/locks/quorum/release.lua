-- Withdraw this node's vote from a holder, or from one of its attempts; or keep it for nobody for the rest of a minimum hold.
-- Returns 1 if the holder had the vote, else 0.
local lock = KEYS[1]
local holder, attempt, keep = ARGV[1], ARGV[2], ARGV[3]

--- @include attempt_of, no_replica

local current = attempt_of(redis.pcall('GET', lock), holder)
if not current or (attempt ~= '' and current ~= tonumber(attempt)) then
  no_replica(lock)
  return 0
end
if keep then
  redis.call('PEXPIRE', lock, keep) -- Redis runs this command also when memory is short, and then the next write too
  redis.call('SET', lock, KEPT, 'PX', keep)
else
  redis.call('DEL', lock)
end
return 1
