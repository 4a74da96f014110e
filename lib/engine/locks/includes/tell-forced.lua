-- Tell the processes of holders of ours that an operator took the lock: an id names its process, whose inbox hears it. Any other text is a holder of another library. Of more than 250, the rest find out when they renew.
local function tell_forced(inbox, holders)
  local told = {}
  for at = 1, math.min(#holders, FORCED) do
    local holder, process = string.match(holders[at], '^(([%w_-]+%.%d+%.[%w_-]+)/[%w_-]+)')
    if process then
      local list = told[process] or { 'forced' }
      told[process], list[#list + 1] = list, holder
    end
  end
  for process, list in pairs(told) do
    redis.pcall('PUBLISH', inbox .. process, table.concat(list, ' '))
  end
end
