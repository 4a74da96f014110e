-- Whether a process that waits has shown itself lately.
-- Needs `seen` of the script.
local function lives(process, now)
  local last_seen = process and redis.call('ZSCORE', seen, process)
  return last_seen and now / 1000 - last_seen <= SILENCE
end
