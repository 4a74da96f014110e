-- Write that a holder has the lock until a moment, and beside it who he is. With `lasting`, Redis does not end the
-- lock: whoever finds it past takes it over. Needs ends-of.
local function write_timestamp(lock, grant, holder, value, unit, lasting, now)
  local left = math.ceil(ends_of(value, unit) - now / 1000)
  if lasting == '1' then
    redis.call('SET', lock, value)
  else
    redis.call('SET', lock, value, 'PX', left)
  end
  redis.call('SET', grant, value .. ' ' .. holder, 'PX', left)
end
