-- Take the lock away from whoever holds it, give it to the next waiter, and tell the old holders' processes. Of several holders 250 lose it in one step; a later step names the `marker` that stood there.
-- Returns {1 or 0, type}: 0 with 'none' where nobody held it, 0 with another type where it is no lock; {2, marker} if a further step is needed; {3, type}, and does nothing, if others hold it than `sight` says.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local inbox, sight, marker = ARGV[1], ARGV[2], ARGV[3]

--- @include now_us, remove_leases, grant_next, tell_forced, sight_of_lock

local kind = redis.call('TYPE', lock).ok
if kind ~= 'string' then
  return { marker and 1 or 0, kind }
end
local current = redis.call('GET', lock)
if marker and current ~= marker then
  return { 1, kind } -- those who held it then are gone
end
if sight and not marker and sight_of_lock(current, now_us()) ~= sight then
  return { 3, kind }
end
local forced, more = { current }, false
if current == SHARED or current == PERMITS then
  forced, more = redis.call('ZRANGEBYSCORE', holders, '-inf', FIRSTS, 'LIMIT', 0, FORCED), redis.call('ZCOUNT', holders, '-inf', FIRSTS) > FORCED
end
if more then
  remove_leases(forced)
else
  redis.call('DEL', lock, holders)
  if redis.call('EXISTS', queue) == 1 then
    grant_next(now_us(), false)
  end
end
tell_forced(inbox, forced)
if more then
  return { 2, current }
end
return { 1, kind }
