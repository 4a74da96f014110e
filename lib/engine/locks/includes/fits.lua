-- Whether one more may hold the lock beside what stands at its name now. Leases that are over do not count.
-- Needs `lock` and `holders` of the script.
--- @include "standing"
--- @include "has-room"
local function fits(current, kind, permits, count, now)
  if not current then
    return true
  elseif kind == 's' and current == SHARED then
    return true
  elseif kind == 'p' and current == PERMITS then
    return has_room(permits, count, now)
  end
  return not standing(current, now)
end
