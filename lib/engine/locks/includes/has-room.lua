-- Whether `count` permits more are free, if there are `permits` in all. Those of leases that are over are.
-- Needs `holders` of the script.
--- @include "members-of"
--- @include "whole"
local function has_room(permits, count, now)
  local ms = math.floor(now / 1000)
  local left = permits - count - redis.call('ZCOUNT', holders, '(' .. ms, FIRSTS)
  local last = left >= 0 and redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')[2]
  for band = 1, last and math.floor(last / PERMIT_BAND) or 0 do
    left = left - 2 ^ (band - 1) * redis.call('ZCOUNT', holders, '(' .. whole(band * PERMIT_BAND + ms), '(' .. whole((band + 1) * PERMIT_BAND))
  end
  return left >= 0
end
