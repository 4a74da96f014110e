-- Release the lock if it is the holder's, and remove the entries that were `served` within its lease. The next waiter comes in; or the lock is kept by nobody for the rest of a minimum hold, and the first waiter is told.
-- Returns 1 if the lock was the holder's, else 0. Instead of 1, the grants to entries of the holder's own process, if there are any.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, inbox, served, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

--- @include held_by, no_replica, process_of

if served and served ~= '' then
--- @include leave_queue
  leave_queue(served)
end
if not held_by(holder, redis.pcall('GET', lock)) then
  no_replica(lock)
  return 0
end
if keep then
--- @include notify_first
  redis.call('PEXPIRE', lock, keep) -- Redis runs this command also when memory is short, and then the next write too
  redis.call('SET', lock, KEPT, 'PX', keep)
  notify_first(keep)
  return 1
end
redis.call('DEL', lock)
if redis.call('EXISTS', queue) == 0 then
  return 1
end

--- @include now_us, grant_next

local grants = {}
grant_next(now_us(), false, nil, process_of(holder), grants)
return #grants == 0 and 1 or grants
