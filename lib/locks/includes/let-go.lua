-- Take a holder's permits, or his share, away from him: they are over at once.
-- Needs `lock` and `holders` of the script. Returns what stands at the lock's name then, or false.
--- @include "settle-holders"
local function let_go(holder, count, marker, now)
  redis.call('ZREM', holders, '') -- removes nothing and is never refused: lets the rest pass when memory is short
  redis.call('ZADD', holders, 'XX', 0, holder)
  for nth = 2, tonumber(count) or 1 do
    redis.call('ZADD', holders, 'XX', 0, holder .. '#' .. nth)
  end
  return settle_holders(marker, now)
end
