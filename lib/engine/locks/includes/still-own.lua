-- Whether a timestamp lock is the holder's that `own` (of grant-of) names: the holder's time stands there and has not come.
-- For a second after it was written, another time to come may stand there: that of a client that lost a take-over, to this
-- holder or to another before it, and wrote all the same. Afterwards it is a third client's. Needs ends-of.
local function still_own(current, own, holder, unit, now)
  if holder == nil or own.holder ~= holder or type(current) ~= 'string' then
    return false
  end
  local ms, mine, stands = now / 1000, ends_of(own.value, unit), ends_of(current, unit)
  if not mine or mine <= ms or not stands or stands <= ms then
    return false
  end
  return current == own.value or ms - own.written < TAKE_OVER_MEMORY
end
