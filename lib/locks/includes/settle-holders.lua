-- See that the marker at the lock's name lasts as long as the longest lease of its holders; of leases that are over, 100 go.
-- A key that a script has emptied is no key of this node any more while its slot moves, so who leaves last leaves marker and members `vacated`: the next holder takes them over, or `clear_away` removes them.
-- Needs `lock` and `holders` of the script. Returns the marker, or false: then nobody holds the lock. The marker is `lasting` until then, in ms.
--- @include "longest-lease"
--- @include "markers"
local vacated, lasting = false, 0
local function settle_holders(marker, now)
  local ms = math.floor(now / 1000)
  local left = longest_lease() - ms
  vacated = left <= 0
  if vacated then
    return false
  end
  lasting = ms + left
  redis.call('SET', lock, marker, 'PX', left)
  redis.call('PEXPIRE', holders, left)
  if redis.call('ZCOUNT', holders, '-inf', ms) > 0 then
--- @include "remove-leases"
    remove_leases(redis.call('ZRANGEBYSCORE', holders, '-inf', ms, 'LIMIT', 0, 100))
  end
  return marker
end
