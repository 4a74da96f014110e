-- The fencing token of a grant in another service's format: one of our own, kept beside the lock; -1 if none
-- is asked for. A grant that is told `again` keeps its token. Needs mint-fencing-tokens.
local function holders_token(fence, now, tokens, again)
  if tokens == '0' then
    return -1
  end
  local token = again and tonumber(redis.call('GET', fence) or '')
  return token or (mint_fencing_tokens(fence, now, 1))
end
