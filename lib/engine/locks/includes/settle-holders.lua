-- See that the marker at the lock's name lasts as long as the longest lease of its holders. Of leases that are over, 100 are removed.
-- A key that a script has emptied is no key of this node any more while its slot moves, so who leaves last leaves marker and members `vacated`: the next holder takes them over, or `clear_away` removes them.
-- Needs `lock` and `holders` of the script. Returns the marker, or false: then nobody holds the lock.
--- @include "members-of"
--- @include "remove-leases"
local vacated = false
local function settle_holders(marker, now)
  local ms, last = math.floor(now / 1000), redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')
  if last[2] and tonumber(last[2]) >= PERMIT_BAND then
    last = redis.call('ZREVRANGEBYSCORE', holders, FIRSTS, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
  end
  local left = last[2] and last[2] - ms or 0
  vacated = left <= 0
  if vacated then
    return false
  end
  redis.call('SET', lock, marker, 'PX', left)
  redis.call('PEXPIRE', holders, left)
  local over = redis.call('ZRANGEBYSCORE', holders, '-inf', ms, 'LIMIT', 0, EXPIRED_LEASES)
  if over[1] then
    remove_leases(over)
  end
  return marker
end
