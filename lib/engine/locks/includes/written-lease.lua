-- Write the end of a holder's lease into a Symfony lock, and that it is written alone; the whole lives as long as its
-- longest lease.
local function written_lease(lock, holder, ends, alone)
  redis.call('ZADD', lock, ends, holder)
  if alone then
    redis.call('ZADD', lock, ends, '__write__')
  end
  redis.call('PEXPIREAT', lock, redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2])
end
