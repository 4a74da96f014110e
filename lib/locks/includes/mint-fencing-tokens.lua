-- The next `count` fencing tokens of a lock, above every earlier one while the key lives, and above the
-- clock of every earlier grant when it was lost. They may lead the clock by 100 ms; then only one is given.
-- The key outlives their lead by a day. Returns the first and how many.
local function mint_fencing_tokens(fence, now, count)
  local last = redis.call('SET', fence, whole(now + count - 1), 'PX', 86400000, 'GET')
  last = tonumber(last or nil) or 0
  if last < now then
    return whole(now), count
  end
  if last + count > now + 100000 then
    count = 1
  end
  local lead = math.ceil((last + count - now) / 1000)
  redis.call('SET', fence, whole(last + count), 'PX', whole(86400000 + lead))
  return whole(last + 1), count
end
