-- Remove what the last holder left, if nobody has taken it over.
-- Needs `lock` and `holders` of the script.
--- @include "settle-holders"
local function clear_away()
  if vacated then
    redis.call('DEL', holders, lock)
    vacated = false
  end
end
