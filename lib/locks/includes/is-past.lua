-- Whether a value is a moment that is past.
--- @include "moment-of"
local function is_past(value, now)
  local moment = moment_of(value)
  return moment ~= nil and moment < now / 1e6
end
