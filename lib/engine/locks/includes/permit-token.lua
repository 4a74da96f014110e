-- The token of a permit: minted once, and known for a minute to who asks again because the answer got lost. A script removes old ones once,
-- and the version: who has a permit with a token may write, as who has the lock alone.
-- Needs `seen`, `fence` and `version` of the script: tokens stand in `seen` beside the times, of which none is so large.
--- @include "mint-fencing-tokens"
local tidy = false
local function permit_token(holder, now)
  local known = redis.call('ZSCORE', seen, holder)
  if known then
    return tonumber(known)
  end
  local token = mint_fencing_tokens(fence, now, 1)
  redis.call('ZADD', seen, token, holder)
  if not tidy then
    redis.call('ZREMRANGEBYSCORE', seen, LEAST_TOKEN, now - TOKEN_KNOWN * 1000)
    redis.call('PEXPIRE', seen, QUEUE_LIFE)
    redis.call('DEL', version)
    tidy = true
  end
  return token
end
