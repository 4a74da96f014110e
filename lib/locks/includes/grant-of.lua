-- What the last of us to take a timestamp lock wrote there, when (ms since the epoch), whether it was a take-over, and
-- the holder: the lock itself says none of it. An empty table where nothing is known.
local function grant_of(grant)
  local value, written, took, holder = string.match(redis.call('GET', grant) or '', '^(%S+) (%d+) ([01]) (.+)$')
  return { value = value, written = tonumber(written), took = took, holder = holder }
end
