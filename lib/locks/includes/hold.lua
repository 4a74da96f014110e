-- Make somebody a holder beside those who are; one lease of several permits is several members of `holders`.
-- Needs `lock` and `holders` of the script. Returns what stands at the lock's name then.
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
  redis.call('ZADD', holders, ends, holder)
  for nth = 2, tonumber(count) or 1 do
    redis.call('ZADD', holders, ends, holder .. '#' .. nth)
  end
  return settle_holders(kind == 's' and SHARED or PERMITS, now)
end
