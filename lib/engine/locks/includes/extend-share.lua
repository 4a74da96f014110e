-- Lengthen a share, or permits, if they are still their holder's; never bring them back. They are shortened only where their end is as far ahead as `overlong`.
-- Returns the ms left, or -2 where they are over, -3 where somebody holds the lock alone; of what was lengthened, the ms left of the longest beside it, too.
--- @include "no-replica"
--- @include "members-of"
--- @include "lengthened"
local function extend_share(lock, holders, marker, holder, ttl, overlong, count, now_ms)
  local current = redis.pcall('GET', lock)
  local ends = current == marker and tonumber(redis.call('ZSCORE', holders, member_of(holder, count)) or 0) or 0
  if ends <= now_ms then
    no_replica(lock, current)
    return current and current ~= marker and -3 or -2
  end
  local later = now_ms + lengthened(ends - now_ms, ttl, overlong)
  local longest = math.max(redis.call('PTTL', lock), tonumber(ttl))
  redis.call('PEXPIRE', lock, longest) -- never refused: lets the rest pass when memory is short; in any case: a WAIT behind it answers for what was written
  if later ~= ends then
    ends = later
    redis.call('PEXPIRE', holders, longest)
    local _, scored = members_of(holder, count, ends)
    redis.call('ZADD', holders, 'XX', unpack(scored))
  end
  return ends - now_ms, longest
end
