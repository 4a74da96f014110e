-- Lengthen every share that is still its holder's, never shorten one, never bring one back. Behind the holders stand all kinds, all counts, and the ttl: once for all, or one for each.
-- Returns 1 if each share lasts its ttl from now on; else for each the ms left; -2 where it is over, -3 where somebody holds the lock alone.

--- @include "now"
--- @include "keep-fence"
--- @include "no-replica"
--- @include "members-of"

local now = now_us()
local now_ms = math.floor(now / 1000)
local shares, answers, as_asked = #KEYS / 3, {}, true
for nth = 1, shares do
  local lock, fence, holders = KEYS[3 * nth - 2], KEYS[3 * nth - 1], KEYS[3 * nth]
  local holder, kind, count, ttl = ARGV[nth], ARGV[shares + nth], ARGV[2 * shares + nth], ARGV[3 * shares + nth] or ARGV[3 * shares + 1]
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
    if kind == 's' then
      keep_fence(fence, now_ms) -- readers have the last writer's token
    end
    answers[nth] = ends - now_ms
  else
    no_replica(lock, current)
    answers[nth] = current and current ~= marker and -3 or -2
  end
  as_asked = as_asked and answers[nth] == tonumber(ttl)
end
return as_asked and 1 or answers
