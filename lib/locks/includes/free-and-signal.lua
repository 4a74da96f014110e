-- Delete a lock of python-redis-lock and leave its waiters what their BLPOP wants: one element, for a second at most.
local function free_and_signal(lock, signal)
  redis.call('DEL', signal, lock)
  redis.call('LPUSH', signal, 1)
  redis.call('PEXPIRE', signal, 1000)
end
