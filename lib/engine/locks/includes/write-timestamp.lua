-- Write that a holder has the lock until a moment, and beside it who that is. With `lasting`, Redis does not end the
-- lock: whoever finds it past takes it over. Needs ends-of.
--- @include "write-grant"
local function write_timestamp(lock, grant, holder, value, unit, lasting, now)
  if lasting == '1' then
    redis.call('SET', lock, value)
  else
    redis.call('SET', lock, value, 'PX', math.ceil(ends_of(value, unit) - now / 1000))
  end
  write_grant(grant, holder, value, unit, now)
end
