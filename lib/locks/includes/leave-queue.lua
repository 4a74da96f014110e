-- Takes `places`, one after a space each, out of the queue.
-- Needs `queue` of the script.
local function leave_queue(places)
  local texts = {}
  for place in string.gmatch(places, '%S+') do
    texts[#texts + 1] = place
  end
  redis.call('ZREM', queue, unpack(texts))
end
