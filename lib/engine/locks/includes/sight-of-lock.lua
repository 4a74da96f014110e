-- Which holder has a lock of ours, or which together. Of more than 250 it says no more than that they are several.
-- Needs `holders` of the script.
--- @include "members-of"
--- @include "sight-of"
local function sight_of_lock(current, now)
  local texts = {}
  if current == SHARED or current == PERMITS then
    texts = redis.call('ZRANGEBYSCORE', holders, '(' .. math.floor(now / 1000), FIRSTS, 'LIMIT', 0, FORCED + 1)
  end
  if #texts > FORCED then
    texts = {}
  end
  texts[#texts + 1] = current
  return sight_of(texts)
end
