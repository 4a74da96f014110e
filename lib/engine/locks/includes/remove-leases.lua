-- Remove whole leases, of which these are the first members.
-- Needs `holders` of the script.
--- @include "members-of"
local function remove_leases(firsts)
  local all = {}
  for _, first in ipairs(firsts) do
    local holder, count = string.match(first, '^([^#]+)#(%d+)$')
    for _, name in ipairs((members_of(holder or first, count, 0))) do
      all[#all + 1] = name
    end
  end
  redis.call('ZREM', holders, unpack(all))
end
