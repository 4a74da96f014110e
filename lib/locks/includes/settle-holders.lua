-- See that the marker at the lock's name lasts as long as the longest lease of its holders.
-- A key that a script has emptied is no key of this node any more while its slot moves, so who leaves last leaves marker and members `vacated`: the next holder takes them over, or `clear_away` removes them.
-- Needs `lock` and `holders` of the script. Returns the marker, or false: then nobody holds the lock.
--- @include "markers"
local vacated = false
local function settle_holders(marker, now)
  local last = redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')
  local left = last[2] and last[2] - math.floor(now / 1000) or 0
  vacated = left <= 0
  if vacated then
    return false
  end
  redis.call('SET', lock, marker, 'PX', left)
  redis.call('PEXPIRE', holders, left)
  redis.call('ZREMRANGEBYSCORE', holders, '-inf', math.floor(now / 1000))
  return marker
end
