-- The moment that a timestamp names, in ms since the epoch; nil where not all of the value is a number, or its unit would
-- put the moment before 2001 or after 5138: a token, an id or a flag of another client is no time.
local function ends_of(value, unit)
  local text = value or ''
  local number = tonumber(string.match(text, '^%d+$') or string.match(text, '^%d+%.%d+$'))
  local ends = number and (unit == 'ms' and number or number * 1000)
  return ends and ends >= 1e12 and ends < 1e14 and ends or nil
end
