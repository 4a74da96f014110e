-- Remove what a client of the SETNX articles left at the lock's name, if it is past and nothing ends it. Needs `lock` of the script.
-- Returns what stands there then.
--- @include "is-past"
local function drop_leftover(current, now)
  if not current or not is_past(current, now) or redis.call('PTTL', lock) ~= -1 then
    return current
  end
  redis.call('DEL', lock)
  return false
end
