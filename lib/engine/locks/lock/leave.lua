-- Remove one or several entries of the leaver from the queue, and release the lock if it was granted meanwhile. The next waiter comes in.
-- Returns 1 if the lock was the leaver's, else 0.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, entries, inbox = ARGV[1], ARGV[2], ARGV[3]

--- @include now_us, grant_next, held_by, leave_queue

local waiting = redis.call('ZCARD', queue) - leave_queue(entries)
local current = redis.pcall('GET', lock)
local mine = held_by(holder, current)
if mine then
  redis.call('DEL', lock)
  current = false
end
if waiting > 0 then
  grant_next(now_us(), current)
end
return mine and 1 or 0
