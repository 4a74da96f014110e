-- Take the lock from its holders, grant it to the next waiter, and tell the old holders' processes. One step removes 250 holders; a further step names the `marker` of the first.
-- Returns {1 or 0, type}: 0 with 'none' if the lock was free, 0 with another type if the key is no lock. Returns {2, marker} if a further step is needed; {3, type}, without a change, if the holders are not those of `sight`.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local inbox, sight, marker = ARGV[1], ARGV[2], ARGV[3]

--- @include now_us, remove_leases, grant_next, tell_forced, sight_of_lock

local kind = redis.call('TYPE', lock).ok
if kind ~= 'string' then
  return { marker and 1 or 0, kind }
end
local current = redis.call('GET', lock)
if marker and current ~= marker then
  return { 1, kind } -- the former holders are gone
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
