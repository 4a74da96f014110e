-- Delete a lock of python-redis-lock and leave its waiters what their BLPOP wants: one element, for a second at most. It is not deleted before: settle-holders.lua says why.
local function free_and_signal(lock, signal)
  redis.call('DEL', lock)
  redis.call('LPUSH', signal, 1)
  redis.call('LTRIM', signal, 0, 0)
  redis.call('PEXPIRE', signal, 1000)
end
