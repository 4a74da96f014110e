-- Wake the next who awaits a condition and lives, because who was signalled cannot. Where so many are dead that the script would be long, an entry
-- of nobody, as dead as they are, stands at `arrival` instead, or at the end of the queue: whoever comes to it goes on with the signal.
-- Needs `queue` and `seen` of the script. Returns whether such an entry is left.
--- @include "signal-next"
--- @include "tail-of-queue"
local function pass_signal_on(holder, condition, now, arrival)
  local _, more = signal_next(condition, now, 1)
  if more then
    redis.call('ZADD', queue, arrival or tail_of_queue(now), 'nobody' .. string.match(holder, '/.*') .. '/1/c0/' .. condition)
  end
  return more
end
