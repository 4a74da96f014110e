-- Undo what clients of the SETNX articles did to a lock of ours: with `drops`, a moment that is past goes. For a second after a grant, a moment to come is
-- that of a client that lost a take-over, from us or from another before us: what of ours `grant` remembers is written once more, if it lasts.
-- It is no third client's: each writes a moment at least a second away, and what we give back is not remembered. Returns what stands there then.
--- @include moment_of, past_from, now_us
local function undo_overwriting(lock, grant, drops)
  local current = redis.pcall('GET', lock)
  local moment = type(current) == 'string' and moment_of(current)
  if not moment or redis.call('PTTL', lock) ~= -1 then
    return current
  end
  local now = now_us()
  if moment > now / 1e6 then
    local ends, ours = string.match(redis.call('GET', grant) or '', '^(%d+) (.+)$')
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
