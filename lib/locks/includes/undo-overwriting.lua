-- Undo what clients of the SETNX articles did to a lock of ours: with `drops`, a moment that is past goes, and `grant` remembers for a second that it
-- was taken over. Within that second, a moment to come may be that of a client that lost the take-over: ours is written once more, where `grant` says
-- that it stood there and lasts. It is no third client's: each writes a moment at least a second away, and what we give back is not remembered.
--- @include "moment-of"
--- @include "now"
local function undo_overwriting(lock, grant, drops)
  local current = redis.pcall('GET', lock)
  local moment = type(current) == 'string' and moment_of(current)
  if not moment or redis.call('PTTL', lock) ~= -1 then
    return
  end
  local now = now_us()
  if moment > now / 1e6 then
    local ends, ours = string.match(redis.call('GET', grant) or '', '^(%d+) (.+)$')
    local left = (ends or 0) - math.floor(now / 1000)
    if left > 0 then
      redis.call('SET', lock, ours, 'PX', left)
    end
  elseif drops and moment < now / 1e6 then
    redis.call('DEL', lock)
    redis.call('SET', grant, '', 'PX', 1000)
  end
end
