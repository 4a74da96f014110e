-- Whether nobody waits for the lock; who awaits a condition does not.
-- Needs `queue` of the script.
--- @include "whole"
local function nobody_waits()
  return redis.call('EXISTS', queue) == 0 or redis.call('ZCOUNT', queue, '-inf', '(' .. whole(AWAITING)) == 0
end
