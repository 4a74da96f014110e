-- Take, or keep, a place at the end of the queue, or at its former arrival; the process has been seen now.
-- Needs `queue` and `seen` of the script. Returns its arrival, and 1 if the server had forgotten it; nothing if the queue is full.
--- @include "tail-of-queue"
local function join_queue(place, process, arrival, limit, now)
  local since, rejoined = redis.call('ZSCORE', queue, place), 0
  if not since then
    if limit and redis.call('ZCARD', queue) >= limit then
      return nil
    end
    rejoined = arrival and arrival ~= '' and 1 or 0
    if rejoined == 0 then
      arrival = tail_of_queue(now)
    end
    redis.call('ZADD', queue, 'NX', arrival, place)
    redis.call('ZREMRANGEBYSCORE', seen, '-inf', now / 1000 - 60000)
    since = arrival
  end
  redis.call('PEXPIRE', queue, 60000) -- never refused: lets the next line pass when memory is short
  redis.call('ZADD', seen, math.floor(now / 1000), process)
  redis.call('PEXPIRE', seen, 60000)
  return since, rejoined
end
