-- Take whole leases away, of which these are the members that have their ends.
-- Needs `holders` of the script.
--- @include "members-of"
local function remove_leases(firsts)
  local all = {}
  for _, first in ipairs(firsts) do
    local holder, count = string.match(first, '^([^#]+)#(%d+)$')
    local _, names = members_of(holder or first, count, 0)
    for _, name in ipairs(names) do
      all[#all + 1] = name
    end
  end
  redis.call('ZREM', holders, unpack(all))
end
