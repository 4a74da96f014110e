-- What stands at the lock's name; false for a marker without a living holder too: it is nobody's. A script left it that stopped half-way, on a node from which its slot was moving.
-- Needs `lock` and `holders` of the script.
--- @include "settle-holders"
--- @include "members-of"
local function standing(current, now)
  if (current == SHARED or current == PERMITS) and redis.call('ZCOUNT', holders, '(' .. math.floor(now / 1000), FIRSTS) == 0 then
    vacated = true
    return false
  end
  return current
end
