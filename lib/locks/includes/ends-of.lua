-- The moment that a timestamp names, in ms since the epoch; nil if a value begins with no number.
local function ends_of(value, unit)
  local number = tonumber(string.match(value or '', '^%d+%.?%d*'))
  return number and (unit == 'ms' and number or number * 1000)
end
