-- Take, or keep, a place at the end of the queue, or at its former arrival; the process has been seen now.
-- Needs `queue` and `seen` of the script. Returns its arrival, and 1 if the server had forgotten it; nothing if the queue is full.
--- @include "keep-waiting"
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
    since = arrival
  end
  keep_waiting(process, now)
  return since, rejoined
end
