-- Whether one more may hold the lock beside what stands at its name now. Leases that are over do not count.
-- Needs `holders` of the script.
--- @include "markers"
local function fits(current, kind, permits, count, now)
  if not current then
    return true
  elseif kind == 's' then
    return current == SHARED
  elseif kind == 'p' and current == PERMITS then
    return redis.call('ZCOUNT', holders, '(' .. math.floor(now / 1000), '+inf') + count <= tonumber(permits)
  end
  return false
end
