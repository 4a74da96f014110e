-- Record beside a lock our value there and its end, for a second after its grant; `undo_overwriting` reads the record. `before` is the lock's value before the step.
-- Only a grant begins that second: asks, looks and renewals do not prolong it. Beside a value that the step did not write, the record is a dialect's: its holder needs it.
--- @include now_us
local function remember_standing(lock, grant, before)
  local current = redis.pcall('GET', lock)
  local is_ours = type(current) == 'string' and string.find(current, '^' .. NEVER .. '%-')
  local granted = is_ours and current ~= before
  if not granted and redis.call('EXISTS', grant) == 0 then
    return
  elseif not is_ours then
    if current ~= before then
      redis.call('DEL', grant)
    end
    return
  end
  local text = string.format('%.0f %s', math.floor(now_us() / 1000) + redis.call('PTTL', lock), current)
  if granted then
    redis.call('SET', grant, text, 'PX', TAKE_OVER_MEMORY)
  else
    redis.pcall('SET', grant, text, 'XX', 'KEEPTTL')
  end
end
