-- In how many ms whoever waits beside clients of the SETNX articles may find the lock free: when what stands there ends by itself; soon, where a time of such a client
-- stands: it gives the lock back by a DEL of which nobody is told. Negative where nothing ends it. Needs `lock` of the script.
--- @include "moment-of"
local function ends_in(now)
  local left = redis.call('PTTL', lock)
  local current = left == -1 and redis.pcall('GET', lock)
  if type(current) == 'string' and moment_of(current) then
    return 10 + now % 40
  end
  return left
end
