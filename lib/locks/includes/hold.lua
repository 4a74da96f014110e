-- Make somebody a holder beside those who are.
-- Needs `lock` and `holders` of the script. Returns what stands at the lock's name then.
--- @include "members-of"
--- @include "settle-holders"
local function hold(holder, kind, lease, count, current, now)
  if kind == 'x' or kind == 'c' then
    redis.call('SET', lock, holder, 'PX', lease)
    if vacated then
      redis.call('DEL', holders)
      vacated, longest = false, nil
    end
    return holder
  end
  if not current and not vacated and redis.call('EXISTS', holders) == 1 then
    redis.call('DEL', holders)
    longest = nil
  end
  local ends = math.floor(now / 1000) + lease
  redis.call('ZADD', holders, unpack((members_of(holder, count, ends))))
  if longest then
    longest, banded = math.max(longest, ends), banded or (tonumber(count) or 1) > 1
  end
  if current and ends <= lasting then
    return current
  end
  return settle_holders(kind == 's' and SHARED or PERMITS, now)
end
