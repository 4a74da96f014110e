-- Whether a value is a moment that is past, all of it and not before 2001: in seconds since the epoch, or in ms where
-- so many seconds would be in the year 5000. No id or flag of another client is taken for one.
local function is_past(value, now)
  local number = tonumber(string.match(value, '^%d+%.?%d*$'))
  if not number or number < 1000000000 then
    return false
  end
  return (number < 100000000000 and number * 1000 or number) < now / 1000
end
