-- Note which life of a server process this is: what an earlier one granted may be forgotten and still be held for a while.
-- Returns the ms until all that is over.
local generation = KEYS[1]
local run, quarantine = ARGV[1], ARGV[2]

--- @include "now"

local now = math.floor(now_us() / 1000)
local known, since = string.match(redis.call('GET', generation) or '', '^(%w+) (%d+)$')
if known ~= run then
  since = now
  redis.call('SET', generation, run .. ' ' .. string.format('%.0f', now))
end
return math.min(tonumber(quarantine), math.max(0, since + quarantine - now))
