-- Lengthen every share that is still its holder's, never shorten one, never bring one back.
-- Returns for each the ms left; -2 where it is over, -3 where somebody holds the lock alone.

--- @include "now"
--- @include "keep-fence"
--- @include "no-replica"
--- @include "members-of"

local now = now_us()
local now_ms = math.floor(now / 1000)
local answers = {}
for i = 1, #KEYS / 3 do
  local lock, fence, holders = KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i]
  local holder, ttl, kind, count = ARGV[4 * i - 3], ARGV[4 * i - 2], ARGV[4 * i - 1], ARGV[4 * i]
  local current, marker = redis.pcall('GET', lock), kind == 's' and SHARED or PERMITS
  local ends = current == marker and tonumber(redis.call('ZSCORE', holders, member_of(holder, count)) or 0) or 0
  if ends > now_ms then
    local later = now_ms + ttl
    local longest = math.max(redis.call('PTTL', lock), tonumber(ttl))
    redis.call('PEXPIRE', lock, longest) -- never refused: lets the rest pass when memory is short; in any case: a WAIT behind it answers for what was written
    if later > ends then
      ends = later
      redis.call('PEXPIRE', holders, longest)
      local _, scored = members_of(holder, count, ends)
      redis.call('ZADD', holders, 'XX', unpack(scored))
    end
    keep_fence(fence, now_ms)
    answers[i] = ends - now_ms
  else
    no_replica(lock, current)
    answers[i] = current and current ~= marker and -3 or -2
  end
end
return answers
