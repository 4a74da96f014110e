-- A process shows itself: the queue in which it waits stays, and so do those in it. Once in 200 ms is enough, but for a queue that is `new`.
-- A process that was seen ahead of the clock was seen before somebody set the clock back. From now on it has the time that each process has to show itself again.
-- Scores from LEAST_TOKEN on are tokens, not times (permit-token.lua).
-- Needs `queue` and `seen` of the script.
local function keep_waiting(process, now, new)
  local ms = math.floor(now / 1000)
  local ago = ms - (not new and redis.call('ZSCORE', seen, process) or 0)
  if ago >= 0 and ago < HEARTBEAT then
    return
  end
  redis.call('PEXPIRE', queue, QUEUE_LIFE) -- never refused: lets the next line pass when memory is short
  redis.call('ZADD', seen, ms, process)
  for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', seen, ms + 1, '(LEAST_TOKEN')) do
    redis.call('ZADD', seen, ms, ahead)
  end
  redis.call('ZREMRANGEBYSCORE', seen, '-inf', ms - QUEUE_LIFE)
  redis.call('PEXPIRE', seen, QUEUE_LIFE)
end
