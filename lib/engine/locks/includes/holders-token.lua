-- The fencing token of a grant in another service's format: one of our own, which `version` remembers a minute longer than the lease; -1 if none
-- is asked for. A grant that is told `again`, and a reader, have the one that is remembered. Needs mint-fencing-tokens.
--- @include "last-token"
--- @include "whole"
local function holders_token(fence, version, now, tokens, again, lease)
  if tokens == '0' then
    return -1
  end
  local known, life = again and last_token(redis.call('GET', version)) or 0, lease + VERSION_LIFE
  if known > 0 then
    redis.call('PEXPIRE', version, math.max(life, redis.call('PTTL', version))) -- others may hold it longer
    return known
  end
  known = mint_fencing_tokens(fence, now, 1)
  redis.call('SET', version, whole(known), 'PX', life)
  return known
end
