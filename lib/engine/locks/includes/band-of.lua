-- Where those who await one condition stand in the queue: from the first score on, and before the second. Two conditions of a lock have the same band once in a million, so an entry in it is told by its name still.
local function band_of(condition)
  local first = AWAITING + tonumber(string.sub(redis.sha1hex(condition), 1, 5), 16) * CONDITION_BAND
  return first, first + CONDITION_BAND
end
