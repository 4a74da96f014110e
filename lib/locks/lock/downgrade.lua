-- Turn the holder's exclusive lease into a shared one, without a gap; waiting readers come in beside it.
-- Returns 1 if it is shared now, 0 if the lock was not the holder's.
local lock, queue, seen, fence, holders = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local holder, inbox = ARGV[1], ARGV[2]

--- @include "now"
--- @include "grant-next"

local current, now, left = redis.pcall('GET', lock), now_us(), redis.call('PTTL', lock)
if current == SHARED and (redis.call('ZSCORE', holders, holder) or 0) * 1000 > now then
  return 1
elseif current ~= holder then
  return 0
end
current = hold(holder, 's', left, 1, false, now)
if redis.call('EXISTS', queue) == 1 then
  grant_next(now, current)
end
return 1
