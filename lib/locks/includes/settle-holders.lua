-- See that the marker at the lock's name lasts as long as the longest lease of its holders, or goes with the last of them.
-- Needs `lock` and `holders` of the script. Returns the marker, or false: then nobody holds the lock.
--- @include "markers"
local function settle_holders(marker, now)
  local last = redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')
  local left = last[2] and last[2] - math.floor(now / 1000) or 0
  if left <= 0 then
    redis.call('DEL', lock, holders)
    return false
  end
  redis.call('SET', lock, marker, 'PX', left)
  redis.call('PEXPIRE', holders, left)
  redis.call('ZREMRANGEBYSCORE', holders, '-inf', math.floor(now / 1000))
  return marker
end
