-- Undo writes of clients of the SETNX articles to a lock of ours. With `drops`, a moment that is past is deleted.
-- For a second after a grant, a future moment is that of a client that lost a take-over, from us or an earlier holder. Our value is then restored from `grant`, if its lease lasts. The record of a timestamp lock has another form, and its holder may have written the moment.
-- The moment is no third client's: those write a moment at least a second away, and a lock that we released has no record. Returns the lock's value afterwards.
--- @include moment_of, past_from, now_us
local function undo_overwriting(lock, grant, drops)
  local current = redis.pcall('GET', lock)
  local moment = type(current) == 'string' and moment_of(current)
  if not moment or redis.call('PTTL', lock) ~= -1 then
    return current
  end
  local now = now_us()
  if moment > now / 1e6 then
    local ends, ours = string.match(redis.call('GET', grant) or '', '^(%d+) (' .. NEVER .. '.+)$')
    local left = (ends or 0) - math.floor(now / 1000)
    if left > 0 then
      redis.call('SET', lock, ours, 'PX', left)
      return ours
    end
  elseif drops and past_from(current) < now / 1000 then
    redis.call('DEL', lock)
    return false
  end
  return current
end
