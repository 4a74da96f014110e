-- Whether a value is a moment that is past, all of it and not before 2001: in seconds since the epoch, or in ms where
-- so many seconds would be in the year 5000. No id or flag of another client is taken for one.
local function is_past(value, now)
  local number = tonumber(string.match(value, '^%d+%.?%d*$'))
  if number and number >= 1e11 then
    number = number / 1000
  end
  return number ~= nil and number >= 1e9 and number < now / 1e6
end
