-- The arrival of who comes to the end of the queue now; a clock that steps back lets nobody pass.
-- Needs `queue` of the script.
--- @include "whole"
local function tail_of_queue(now)
  local tail = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]
  if tail and tonumber(tail) >= AWAITING then
    tail = redis.call('ZREVRANGEBYSCORE', queue, '(' .. whole(AWAITING), '-inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  end
  return whole(math.max(now, (tonumber(tail) or 0) + 1))
end
