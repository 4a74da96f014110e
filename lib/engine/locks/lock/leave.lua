-- Remove one or several entries of the leaver from the queue, and release its lease if it was granted meanwhile: the lock alone, a share or permits. The next waiters come in.
-- Returns 1 if the leaver held the lock, else 0.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, entries, inbox, kind, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include now_us, grant_next, held_by, leave_queue, member_of, remove_holder

local waiting = redis.call('ZCARD', queue) - leave_queue(entries)
local now, marker, mine = now_us(), kind == 's' and SHARED or kind and PERMITS, false
local current = redis.pcall('GET', lock)
if not marker and held_by(holder, current) then
  redis.call('DEL', lock)
  current, mine = false, true
elseif current == marker and redis.call('ZSCORE', holders, member_of(holder, count)) then
  current, mine = remove_holder(holder, count, marker, now), true
end
if waiting > 0 then
  grant_next(now, current)
end
clear_away()
return mine and 1 or 0
