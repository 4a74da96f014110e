-- Whether a client that lost a take-over, to this holder or to another before it, has written over it: a moment to come stands
-- there, and nothing ends it. `grant` remembers the holder for a second, or a shorter lease; within it, the moment can be no third client's.
-- Returns when the holder's own lease ends, in ms since the epoch; nil if it was not overwritten.
--- @include "moment-of"
local function overwritten(lock, grant, holder, current, now)
  local ends, who = string.match(redis.call('GET', grant) or '', '^(%d+) (.+)$')
  local moment = who == holder and type(current) == 'string' and moment_of(current)
  if moment and moment > now / 1e6 and redis.call('PTTL', lock) == -1 then
    return tonumber(ends)
  end
  return nil
end
