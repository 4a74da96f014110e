-- Takes `places`, one after a space each, out of the queue.
-- Needs `queue` of the script. Returns how many stood in it.
local function leave_queue(places)
  local texts = {}
  for place in string.gmatch(places, '%S+') do
    texts[#texts + 1] = place
  end
  return redis.call('ZREM', queue, unpack(texts))
end
