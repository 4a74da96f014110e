-- Make somebody a holder beside those who are.
-- Needs `lock` and `holders` of the script. Returns what stands at the lock's name then.
--- @include "members-of"
--- @include "settle-holders"
local function hold(holder, kind, lease, count, current, now)
  if kind == 'x' or kind == 'c' then
    redis.call('SET', lock, holder, 'PX', lease)
    if vacated then
      redis.call('DEL', holders)
      vacated = false
    end
    return holder
  end
  if not current and not vacated and redis.call('EXISTS', holders) == 1 then
    redis.call('DEL', holders)
  end
  local ends = math.floor(now / 1000) + lease
  local _, scored = members_of(holder, count, ends)
  redis.call('ZADD', holders, unpack(scored))
  return settle_holders(kind == 's' and SHARED or PERMITS, now) -- in any case: from now on nothing is `vacated`
end
