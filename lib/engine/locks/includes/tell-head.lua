-- Tell the process of the first waiter when the lock comes free by itself: a hint to ask then.
-- Needs `lock`, `queue` and `inbox` of the script, and process-of.
local function tell_head(left)
  local head = redis.call('ZRANGE', queue, 0, 0)[1]
  if head then
    redis.pcall('PUBLISH', inbox .. process_of(head), 'kept ' .. left .. ' ' .. lock)
  end
end
