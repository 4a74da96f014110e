-- Whether a hash is a lock of Redisson, and no data of an application: nothing but counts by `<id>:<thread>`, or by a holder
-- id of ours, beside the mode of a read-write lock. A thread's id may be below zero. Of more than a thousand readers the mode alone says it.
local function is_redisson_lock(lock)
  local mode = redis.call('HGET', lock, 'mode')
  if mode and mode ~= 'read' and mode ~= 'write' then
    return false
  elseif redis.call('HLEN', lock) > 1000 then
    return mode == 'read'
  end
  local holders = 0
  for _, field in ipairs(redis.call('HKEYS', lock)) do
    if field ~= 'mode' then
      local id = string.match(field, '^(.+):write$') or field
      local named = string.find(id, '^.+:%-?%d+$') or string.find(id, '^[%w_-]+%.%d+%.[%w_-]+/[%w_-]+$')
      if not named or not string.find(redis.call('HGET', lock, field), '^[1-9]%d*$') then
        return false
      end
      holders = holders + 1
    end
  end
  return holders > 0
end
