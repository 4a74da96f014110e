-- Take this node's vote back from a holder, or from one attempt of its; or keep it for nobody for the rest of a minimum hold.
-- Returns 1 if it had it, else 0.
local lock = KEYS[1]
local holder, attempt, keep = ARGV[1], ARGV[2], ARGV[3]

--- @include attempt_of

local current = attempt_of(redis.pcall('GET', lock), holder)
if not current or (attempt ~= '' and current ~= tonumber(attempt)) then
  return 0
end
if keep then
  redis.call('PEXPIRE', lock, keep) -- never refused: lets the rest pass when memory is short
  redis.call('SET', lock, KEPT, 'PX', keep)
else
  redis.call('DEL', lock)
end
return 1
