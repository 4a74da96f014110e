-- What the last of us to take a timestamp lock wrote there, when (ms since the epoch), and the holder: the lock itself
-- says none of it. An empty table where nothing is known.
local function grant_of(grant)
  local value, written, holder = string.match(redis.call('GET', grant) or '', '^(%S+) (%d+) (.+)$')
  return { value = value, written = tonumber(written), holder = holder }
end
