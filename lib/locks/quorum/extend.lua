-- Lengthen every lease for which this node votes, never shorten one, never bring one back.
-- Returns for each the ms left; -2 where the lock is free, -3 where it is another's.

--- @include "now"
--- @include "attempt-of"
--- @include "keep-fence"

local now = now_us() / 1000
local answers = {}
for i = 1, #KEYS / 2 do
  local lock, fence = KEYS[2 * i - 1], KEYS[2 * i]
  local holder, ttl = ARGV[2 * i - 1], ARGV[2 * i]
  local current = redis.pcall('GET', lock)
  if attempt_of(current, holder) then
    local left, least = redis.call('PTTL', lock), tonumber(ttl)
    if left < least then
      redis.call('PEXPIRE', lock, ttl)
      left = least
    end
    keep_fence(fence, now)
    answers[i] = left
  else
    answers[i] = current and -3 or -2
  end
end
return answers
