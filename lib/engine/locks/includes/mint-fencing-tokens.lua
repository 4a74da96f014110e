-- The next `count` fencing tokens: above every earlier one while the fence lives, and above the
-- clock of every earlier grant when it was lost. They may lead the clock by 100 ms: then as many are given as fit, and one in any case.
-- The fence outlives their lead by a day. What names no token is written over. Returns the first and how many.
--- @include "token-text"
--- @include "last-token"
local function mint_fencing_tokens(fence, now, count)
  local last = last_token(redis.call('SET', fence, token_text(now + count - 1), 'PX', 'FENCE_LIFE', 'GET'))
  if last < now then
    return now, count
  end
  count = math.max(1, math.min(count, now + TOKEN_LEAD - last))
  redis.call('SET', fence, token_text(last + count), 'PX', FENCE_LIFE + math.ceil((last + count - now) / 1000))
  return last + 1, count
end
