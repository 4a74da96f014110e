-- Take, or keep, an entry at the end of the queue of `waiting` entries, or at its former arrival; the process has been seen now. Where the queue is full, the dead in it make room. Who came before has its place in any case: an outage makes all seem dead.
-- Needs `queue` and `seen` of the script. Returns its arrival, and 1 if the server had forgotten it; false if the queue is full, in which who awaits a condition does not count.
--- @include "dead-among"
--- @include "keep-waiting"
--- @include "pass-signal-on"
--- @include "tail-of-queue"
--- @include "whole"
local function join_queue(entry, process, arrival, limit, waiting, now)
  local came = arrival and arrival ~= ''
  local entries = limit and not came and waiting >= limit and redis.call('ZCOUNT', queue, '-inf', '(' .. whole(AWAITING))
  local full = entries and entries >= limit
  local since, rejoined = (came or full) and redis.call('ZSCORE', queue, entry), 0
  if not since then
    local dead = full and dead_among(0, entries, process, now) or {}
    full = full and entries - #dead >= limit
    if not full then
      since, rejoined = came and arrival or tail_of_queue(now), came and 1 or 0
      if redis.call('ZADD', queue, 'NX', since, entry) == 0 then
        since = redis.call('ZSCORE', queue, entry) -- its first ask came before, and nobody heard the answer
      end
    end
    for _, gone in ipairs(dead) do
      redis.call('ZREM', queue, gone) -- not before another is in the queue: settle-holders.lua says why
      local holder, condition = string.match(gone, '^([^/]+/[^/]+)/%d+/c%d+/(.+)$')
      if holder and pass_signal_on(holder, condition, now) then -- it does not die with who got it
        break
      end
    end
  end
  keep_waiting(process, now, waiting == 0)
  return since, rejoined
end
