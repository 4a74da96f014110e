-- The version of what the lock guards, which is the token of its readers: no writer before had a greater one, and every later one has.
-- A new one is minted: the last token that a promoted replica has may be older than that of a grant which it never got.
-- It stands until somebody is granted the lock alone, or a permit, with tokens; a minute beyond the longest lease of readers at most.
-- Needs `lock`, `fence` and `version` of the script.
--- @include "mint-fencing-tokens"
--- @include "last-token"
--- @include "whole"
local function plant_version(now)
  local token, life = last_token(redis.call('GET', version)), math.max(0, redis.call('PTTL', lock)) + VERSION_LIFE
  if token > 0 then
    redis.call('PEXPIRE', version, life)
    return token
  end
  token = mint_fencing_tokens(fence, now, 1)
  redis.call('SET', version, whole(token), 'PX', life)
  return token
end
