-- The next `count` fencing tokens of a lock, above every earlier one while the key lives, and above the
-- clock of every earlier grant when it was lost. They may lead the clock by 100 ms; then only one is given.
-- The key outlives their lead by a day. Returns the first and how many.
--- @include "block-of"
local function mint_fencing_tokens(fence, now, count)
  local last = redis.call('SET', fence, block_of(now + count - 1, count), 'PX', 'FENCE_LIFE', 'GET')
  if not last or (tonumber(last) or 0) < now then
    return now, count
  end
  last = tonumber(last)
  if last + count > now + TOKEN_LEAD then
    count = 1
  end
  local lead = math.ceil((last + count - now) / 1000)
  redis.call('SET', fence, block_of(last + count, count), 'PX', FENCE_LIFE + lead)
  return last + 1, count
end
