-- Lengthen every lease that is still its holder's, never shorten one, never bring one back.
-- Returns for each the ms left; -2 where the lock is free, -3 where it is another's.

--- @include "now"
--- @include "keep-fence"
--- @include "no-replica"

local now = now_us() / 1000
local answers = {}
for i = 1, #KEYS / 2 do
  local lock, fence = KEYS[2 * i - 1], KEYS[2 * i]
  local holder, ttl = ARGV[2 * i - 1], ARGV[2 * i]
  local current = redis.pcall('GET', lock)
  if current == holder then
    local least = tonumber(ttl)
    local left = math.max(redis.call('PTTL', lock), least)
    redis.call('PEXPIRE', lock, left == least and ttl or left) -- in any case: a WAIT behind it answers for what was written
    keep_fence(fence, now)
    answers[i] = left
  else
    no_replica(lock, current)
    answers[i] = current and -3 or -2
  end
end
return answers
