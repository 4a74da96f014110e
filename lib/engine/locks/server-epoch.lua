-- Record the run id of this server process: grants of an earlier process may be forgotten here and still be held for a while.
-- Returns the ms until all of those leases are over.
local epoch = KEYS[1]
local run, grace = ARGV[1], ARGV[2]

--- @include now_us

local now = math.floor(now_us() / 1000)
local known, since = string.match(redis.call('GET', epoch) or '', '^(%w+) (%d+)$')
if known ~= run or tonumber(since) > now then -- or the server's clock was set back
  since = now
  redis.call('SET', epoch, run .. ' ' .. string.format('%.0f', now))
end
return math.min(tonumber(grace), math.max(0, since + grace - now))
