-- The clock, and values at a lock's name.

-- The server's clock in microseconds.
local function now_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- A whole number as Redis writes it; `..` would turn a token into 1.79e+15.
local function int_text(number)
  return string.format('%.0f', number)
end

-- Write the value at a name again, unchanged. A repeated answer must be a write too: from Redis 7.2 on, a WAIT covers only writes of its own connection.
local function rewrite(lock, left)
  if left > 0 then
    redis.call('PEXPIRE', lock, left)
  end
end

-- Fail on a replica (READONLY) by a write that changes nothing: a lease that a replica does not know is not lost. Each script that answers "not yours" calls this before, unless it has written already.
local function no_replica(lock)
  if redis.call('EXISTS', lock) == 1 then
    redis.call('RENAMENX', lock, lock)
  else
    redis.call('DEL', lock)
  end
end

-- The new length of a lease that had `left` ms: `ttl`, or longer if it had more. A lease as long as `overlong` is cut to `ttl`: a clock that was set back, or a caller that left, explains its length.
local function lengthened(left, ttl, overlong)
  local seen = tonumber(overlong or '')
  if seen and left <= seen and left > seen - SAMPLE_LIFE then
    return tonumber(ttl)
  end
  return math.max(left, tonumber(ttl))
end
