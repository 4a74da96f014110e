-- Take a holder's permits, or his share, away from him. If nobody is `beside` him in `holders`, they are only over: settle-holders.lua says why.
-- Needs `lock` and `holders` of the script. Returns what stands at the lock's name then, or false.
--- @include "settle-holders"
local function let_go(holder, count, marker, now, beside)
  redis.call('ZREM', holders, beside and holder or '') -- never refused: lets the rest pass when memory is short
  for nth = beside and 2 or 1, tonumber(count) or 1 do
    local member = nth == 1 and holder or holder .. '#' .. nth
    if beside then
      redis.call('ZREM', holders, member)
    else
      redis.call('ZADD', holders, 'XX', 0, member)
    end
  end
  return settle_holders(marker, now)
end
