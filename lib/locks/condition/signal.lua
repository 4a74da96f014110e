-- Wake the first who awaits a condition, or all; the signaller holds the lock, so they come in after him.
-- Returns how many were woken, or -1 if the lock was not the signaller's.
local lock, queue, seen = KEYS[1], KEYS[2], KEYS[3]
local holder, condition, most = ARGV[1], ARGV[2], ARGV[3]

--- @include "now"
--- @include "signal-next"

if redis.pcall('GET', lock) ~= holder then
  return -1
end
local now, woken = now_us(), 0
while woken < tonumber(most) and signal_next(condition, now) do
  woken = woken + 1
end
return woken
