-- Signal the first entries that await a condition: `most` at most, 125 in one step, and in a further step none later than `last`. The signaller holds the lock, so they are granted it later.
-- Returns {number signalled}, with the score of the last one if a further step is needed; 'free' or 'taken' if the lock was not the signaller's.
local lock, queue, seen = KEYS[1], KEYS[2], KEYS[3]
local holder, condition, most, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include held_by, no_replica, now_us, signal_next

local current = redis.pcall('GET', lock)
if not held_by(holder, current) then
  no_replica(lock)
  return current and 'taken' or 'free'
end
local woken, more = signal_next(condition, now_us(), tonumber(most), last)
if not more then
  return { woken }
end
if not last then
  local first, beyond = band_of(condition)
  last = redis.call('ZREVRANGEBYSCORE', queue, '(' .. int_text(beyond), int_text(first), 'WITHSCORES', 'LIMIT', 0, 1)[2]
end
return { woken, last }
