-- A process shows itself: the queue in which it waits stays, and so do those in it. Once in 200 ms is enough, but for a queue that is `new`.
-- Needs `queue` and `seen` of the script.
local function keep_waiting(process, now, new)
  local ms = math.floor(now / 1000)
  local ago = ms - (not new and redis.call('ZSCORE', seen, process) or 0)
  if ago >= 0 and ago < 200 then
    return
  end
  redis.call('PEXPIRE', queue, 60000) -- never refused: lets the next line pass when memory is short
  redis.call('ZADD', seen, ms, process)
  redis.call('ZREMRANGEBYSCORE', seen, '-inf', ms - 60000)
  redis.call('PEXPIRE', seen, 60000)
end
