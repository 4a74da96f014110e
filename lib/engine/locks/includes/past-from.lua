-- From when on a time of the SETNX articles' clients is past, in ms since the epoch. One in whole seconds is past when its second is
-- over: those clients compare whole seconds too, and until then may delete, as their own, what has become another's.
local function past_from(value)
  local number = tonumber(value)
  if number >= 1e11 then
    return number
  end
  return (string.find(value, '.', 1, true) and number or number + 1) * 1000
end
