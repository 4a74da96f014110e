-- What locks of other libraries look like.

-- Whether a hash is a lock of Redisson, and no data of an application: nothing but counts by `<id>:<thread>`, or by a holder
-- id of ours, beside the mode of a read-write lock. A thread's id may be below zero. Of more than a thousand readers the mode alone says it.
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

-- Whether a sorted set is a lock of symfony/lock, and no data of an application: its scores are times in ms since the
-- epoch, and Redis ends it with the longest of its leases, as every step of that library leaves it; in the last ms none is left of it.
local function is_symfony_lock(lock, ms)
  local first = tonumber(redis.call('ZRANGE', lock, 0, 0, 'WITHSCORES')[2])
  local last = tonumber(redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2])
  local left = redis.call('PTTL', lock)
  return left >= 0 and first >= 1e12 and math.abs(ms + left - last) <= 1000
end

-- Write the end of a holder's lease into a Symfony lock, and that it is written alone; the whole lives as long as its
-- longest lease.
local function written_lease(lock, holder, ends, alone)
  redis.call('ZADD', lock, ends, holder)
  if alone then
    redis.call('ZADD', lock, ends, '__write__')
  end
  redis.call('PEXPIREAT', lock, redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2])
end

-- Delete a lock of python-redis-lock and leave its waiters what their BLPOP wants: one element, for a second at most. It is not deleted before: `refresh_marker` says why.
local function free_and_signal(lock, signal)
  redis.call('DEL', lock)
  redis.call('LPUSH', signal, 1)
  redis.call('LTRIM', signal, 0, 0)
  redis.call('PEXPIRE', signal, 1000)
end

-- Tell those who listen that a lock is free, where its format has a channel for that; also on an older one, if there is one.
local function wake_waiters(publish, channel, older, message)
  for _, at in ipairs({ channel, older }) do
    if at ~= '' then
      redis.pcall(publish, at, message)
    end
  end
end
