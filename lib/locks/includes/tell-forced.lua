-- Tell holders of ours that an operator took the lock: an id names its process, whose inbox hears it. Any other text is a holder of the other side. Of more than 250, the rest find out when they renew.
local function tell_forced(inbox, holders)
  for at = 1, math.min(#holders, FORCED) do
    local holder, process = string.match(holders[at], '^(([%w_-]+%.%d+%.[%w_-]+)/[%w_-]+)')
    if process then
      redis.pcall('PUBLISH', inbox .. process, 'forced ' .. holder)
    end
  end
end
