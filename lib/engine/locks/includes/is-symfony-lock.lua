-- Whether a sorted set is a lock of symfony/lock, and no data of an application: its scores are times in ms since the
-- epoch, and Redis ends it with the longest of its leases, as every step of that library leaves it; in the last ms none is left of it.
local function is_symfony_lock(lock, ms)
  local first = tonumber(redis.call('ZRANGE', lock, 0, 0, 'WITHSCORES')[2])
  local last = tonumber(redis.call('ZREVRANGE', lock, 0, 0, 'WITHSCORES')[2])
  local left = redis.call('PTTL', lock)
  return left >= 0 and first >= 1e12 and math.abs(ms + left - last) <= 1000
end
