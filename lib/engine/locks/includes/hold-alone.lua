-- Make somebody the holder who has the lock alone: its id stands there, and its first token behind a slash. Who has tokens may write, so that the version goes.
-- Needs `lock`, `fence` and `version` of the script. Returns what stands there then, the first token and how many; -1 and 0 where none is wanted.
--- @include "mint-fencing-tokens"
local function hold_alone(holder, lease, tokens, now)
  local current, token, count = holder, -1, 0
  if tokens > 0 then
    token, count = mint_fencing_tokens(fence, now, tokens)
    current = holder .. '/' .. token_text(token)
    redis.call('DEL', version)
  end
  redis.call('SET', lock, current, 'PX', lease)
  return current, token, count
end
