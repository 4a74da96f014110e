-- What is written for a lock that is held so many ms from now, in the unit of its clients: a second more, as in the
-- articles, because who loses a take-over writes what it reckoned when it began. Rounded up: what is
-- left is read from it again, and an extension must not find less than the holder was told.
local function timestamp(now, ms, unit)
  local ends = now / 1000 + ms + 1000
  if unit == 's' then
    return string.format('%.0f', math.ceil(ends / 1000))
  elseif unit == 'float' then
    return string.format('%.6f', ends / 1000)
  end
  return string.format('%.0f', math.ceil(ends))
end
