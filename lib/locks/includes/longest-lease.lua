-- When the longest of the leases in `holders` ends, in ms; 0 if there are none. It is read once, until somebody sets `longest` to what he made of it, or to nil.
-- Needs `holders` of the script. From then on `banded` says whether a lease of several permits is among them.
--- @include "members-of"
local longest, banded = nil, false
local function longest_lease()
  if not longest then
    local last = redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')
    banded = last[2] and tonumber(last[2]) >= BAND
    if banded then
      last = redis.call('ZREVRANGEBYSCORE', holders, BELOW, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
    end
    longest = tonumber(last[2]) or 0
  end
  return longest
end
