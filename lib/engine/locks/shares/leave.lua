-- Remove an entry of the queue, and release the share or permits if they were granted meanwhile. The next waiters come in.
-- Returns 1 if the leaver held the lock, else 0.
local lock, queue, seen, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local holder, entries, inbox, kind, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include now_us, grant_next, remove_holder, leave_queue, members_of

local waiting = redis.call('ZCARD', queue) - leave_queue(entries)
local now, marker, mine = now_us(), kind == 's' and SHARED or PERMITS, false
local current = redis.pcall('GET', lock)
if current == marker and redis.call('ZSCORE', holders, member_of(holder, count)) then
  current, mine = remove_holder(holder, count, marker, now), true
end
if waiting > 0 then
  grant_next(now, current)
end
clear_away()
return mine and 1 or 0
