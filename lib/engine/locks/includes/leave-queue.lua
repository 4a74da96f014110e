-- Takes `entries`, one after a space each, out of the queue.
-- Needs `queue` of the script. Returns how many stood in it.
local function leave_queue(entries)
  local texts = {}
  for entry in string.gmatch(entries, '%S+') do
    texts[#texts + 1] = entry
  end
  return redis.call('ZREM', queue, unpack(texts))
end
