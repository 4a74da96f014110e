-- Whether `count` permits more are free, of as many as there are. Those of leases that are over are.
-- Needs `holders` of the script.
--- @include "longest-lease"
--- @include "whole"
local function has_room(permits, count, now)
  local ms, band = math.floor(now / 1000), 0
  local left = permits - count - redis.call('ZCOUNT', holders, '(' .. ms, BELOW)
  while left >= 0 and longest_lease() and banded do
    local found = redis.call('ZRANGEBYSCORE', holders, whole((band + 1) * BAND), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if not found[2] then
      break
    end
    band = math.floor(found[2] / BAND)
    left = left - 2 ^ (band - 1) * redis.call('ZCOUNT', holders, '(' .. whole(band * BAND + ms), '(' .. whole((band + 1) * BAND))
  end
  return left >= 0
end
