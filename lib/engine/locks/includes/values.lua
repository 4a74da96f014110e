-- The clock, and what stands at a name.

-- The server's clock in microseconds.
local function now_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- A whole number as Redis writes it; `..` would make 1.79e+15 of a token.
local function int_text(number)
  return string.format('%.0f', number)
end

-- Write what stands at a name once more as it is: a repeated answer is a write too, so that a WAIT behind it answers for the grant (from Redis 7.2 on it answers for writes of its connection alone).
local function rewrite(lock, left)
  if left > 0 then
    redis.call('PEXPIRE', lock, left)
  end
end

-- Fail on a replica (READONLY), by a write that changes nothing: what a replica does not know is no loss.
local function no_replica(lock, current)
  if current then
    redis.call('RENAMENX', lock, lock)
  else
    redis.call('DEL', lock)
  end
end

-- How many ms a lease lasts that had `left` of them: `ttl`, or longer if it did. But as long as is `overlong`, it is only by a clock that was set back.
local function lengthened(left, ttl, overlong)
  local seen = tonumber(overlong or '')
  if seen and left <= seen and left > seen - SAMPLE_LIFE then
    return tonumber(ttl)
  end
  return math.max(left, tonumber(ttl))
end
