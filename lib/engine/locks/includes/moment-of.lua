-- The moment that a client of the SETNX articles wrote, in seconds since the epoch, if all of a value is one and it is
-- not before 2001: in seconds, or in ms where so many seconds would be in the year 5000. No id or flag of another client is taken for one.
local function moment_of(value)
  local number = tonumber(string.match(value, '^%d+%.?%d*$'))
  if number and number >= 1e11 then
    number = number / 1000
  end
  return number and number >= 1e9 and number or nil
end
