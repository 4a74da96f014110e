-- Make somebody a holder, alone or beside those who are.
-- Needs `lock`, `seen`, `fence`, `holders` and `version` of the script. Returns what stands at the lock's name then, the first token and how many; -1 and 0 where none is wanted.
--- @include "members-of"
--- @include "settle-holders"
--- @include "hold-alone"
--- @include "permit-token"
--- @include "plant-version"
local function hold(holder, kind, lease, count, current, now, tokens)
  if kind == 'x' or kind == 'c' then
    local stands, token, minted = hold_alone(holder, lease, tokens, now)
    if vacated then
      redis.call('DEL', holders)
      vacated = false
    end
    return stands, token, minted
  end
  if not current and not vacated and redis.call('EXISTS', holders) == 1 then
    redis.call('DEL', holders)
  end
  local ends = math.floor(now / 1000) + lease
  local _, scored = members_of(holder, count, ends)
  redis.call('ZADD', holders, unpack(scored))
  local marker = settle_holders(kind == 's' and SHARED or PERMITS, now) -- in any case: from now on nothing is `vacated`
  if tokens == 0 then
    return marker, -1, 0
  end
  return marker, kind == 's' and plant_version(now) or permit_token(holder, now), 1
end
