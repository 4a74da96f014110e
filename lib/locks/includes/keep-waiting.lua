-- A process shows itself: the queue in which it waits stays, and so do those in it.
-- Needs `queue` and `seen` of the script.
local function keep_waiting(process, now)
  redis.call('PEXPIRE', queue, 60000) -- never refused: lets the next line pass when memory is short
  redis.call('ZADD', seen, math.floor(now / 1000), process)
  redis.call('ZREMRANGEBYSCORE', seen, '-inf', now / 1000 - 60000)
  redis.call('PEXPIRE', seen, 60000)
end
