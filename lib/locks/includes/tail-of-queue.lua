-- The arrival of who comes to the end of the queue now; a clock that steps back lets nobody pass.
-- Needs `queue` of the script.
--- @include "awaiting"
--- @include "whole"
local function tail_of_queue(now)
  local tail = redis.call('ZREVRANGEBYSCORE', queue, '(' .. whole(AWAITING), '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return whole(math.max(now, (tonumber(tail[2]) or 0) + 1))
end
