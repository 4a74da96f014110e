-- In how many ms whoever waits under a guard may find the lock free: when what stands there ends by itself; soon, where a time of a client of the
-- SETNX articles stands: such a client gives the lock back by a DEL of which nobody is told. Negative where nothing ends it. Needs `lock` of the script.
--- @include "moment-of"
local function ends_in(now)
  local left = redis.call('PTTL', lock)
  local current = left == -1 and redis.pcall('GET', lock)
  if type(current) == 'string' and moment_of(current) then
    return 10 + now % 40
  end
  return left
end
