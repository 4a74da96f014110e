-- The formats of other libraries' locks.

-- Whether a hash is a lock of Redisson, and no data of an application. Such a lock has only counts by `<id>:<thread>`, or by a holder id of ours, beside the mode of a read-write lock.
-- A thread's id may be negative. With more than a thousand readers, the mode alone decides.
local function is_redisson_lock(lock)
  local mode = redis.call('HGET', lock, 'mode')
  if mode and mode ~= 'read' and mode ~= 'write' then
    return false
  elseif redis.call('HLEN', lock) > 1000 then
    return mode == 'read'
  end
  local holders = 0
  for _, field in ipairs(redis.call('HKEYS', lock)) do
    if field ~= 'mode' then
      local id = string.match(field, '^(.+):write$') or field
      local named = string.find(id, '^.+:%-?%d+$') or string.find(id, '^[%w_-]+%.%d+%.[%w_-]+/[%w_-]+$')
      if not named or not string.find(redis.call('HGET', lock, field), '^[1-9]%d*$') then
        return false
      end
      holders = holders + 1
    end
  end
  return holders > 0
end

-- Whether a sorted set is a lock of symfony/lock, and no data of an application. Its scores are times in ms since the epoch, and Redis expires the key with its longest lease, as every step of that library sets it.
-- In its last ms, a lock has no lease left.
local function is_symfony_lock(lock, ms)
  local first = tonumber(redis.call('ZRANGE', lock, 0, 0, 'WITHSCORES')[2])
  local last = tonumber(redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2])
  local left = redis.call('PTTL', lock)
  return left >= 0 and first >= 1e12 and math.abs(ms + left - last) <= 1000
end

-- Write the end of a holder's lease into a Symfony lock; `alone` marks it as a writer's. The key lives as long as its longest lease.
local function written_lease(lock, holder, ends, alone)
  redis.call('ZADD', lock, ends, holder)
  if alone then
    redis.call('ZADD', lock, ends, '__write__')
  end
  redis.call('PEXPIREAT', lock, redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2])
end

-- Delete a lock of python-redis-lock and leave one element for its waiters' BLPOP, for a second at most. The signal key is not deleted first (see `refresh_marker`).
local function free_and_signal(lock, signal)
  redis.call('DEL', lock)
  redis.call('LPUSH', signal, 1)
  redis.call('LTRIM', signal, 0, 0)
  redis.call('PEXPIRE', signal, 1000)
end

-- Publish that a lock is free, on the channel of its format and on an older channel, if the format has them.
local function wake_waiters(publish, channel, older, message)
  for _, at in ipairs({ channel, older }) do
    if at ~= '' then
      redis.pcall(publish, at, message)
    end
  end
end
