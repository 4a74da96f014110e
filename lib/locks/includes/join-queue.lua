-- Take, or keep, an entry at the end of the queue of `waiting` entries, or at its former arrival; the process has been seen now.
-- Needs `queue` and `seen` of the script. Returns its arrival, and 1 if the server had forgotten it; nothing if the queue is full, in which who awaits a condition does not count.
--- @include "keep-waiting"
--- @include "tail-of-queue"
--- @include "whole"
local function join_queue(entry, process, arrival, limit, waiting, now)
  local came = arrival and arrival ~= ''
  local full = limit and waiting >= limit and redis.call('ZCOUNT', queue, '-inf', '(' .. whole(AWAITING)) >= limit
  local since, rejoined = (came or full) and redis.call('ZSCORE', queue, entry), 0
  if not since then
    if full then
      return nil
    end
    since, rejoined = came and arrival or tail_of_queue(now), came and 1 or 0
    if redis.call('ZADD', queue, 'NX', since, entry) == 0 then
      since = redis.call('ZSCORE', queue, entry) -- its first ask came before, and nobody heard the answer
    end
  end
  keep_waiting(process, now, waiting == 0)
  return since, rejoined
end
