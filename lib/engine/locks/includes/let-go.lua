-- Take a holder's permits, or its share, away from it. If nobody is `beside` it in `holders`, they are only over: settle-holders.lua says why.
-- Needs `lock` and `holders` of the script. Returns what stands at the lock's name then, or false.
--- @include "members-of"
--- @include "settle-holders"
local function let_go(holder, count, marker, now, beside)
  local names, scored = members_of(holder, count, 0)
  if beside then
    redis.call('ZREM', holders, unpack(names))
  else
    redis.call('ZREM', holders, '') -- never refused: lets the next line pass when memory is short
    redis.call('ZADD', holders, 'XX', unpack(scored))
  end
  return settle_holders(marker, now)
end
