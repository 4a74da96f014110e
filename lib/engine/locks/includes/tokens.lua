-- Fencing tokens, the fence that remembers the last of them, and versions.

-- A token as Redis writes it. In two halves: %.0f takes 0.2 µs longer, and so does a number that is passed to Redis.
local function token_text(token)
  return string.format('%d%08d', token / 1e8, token % 1e8)
end

-- The token that a fence or a version names; 0 where it names none, or one that no clock shows: somebody else wrote that.
local function last_token(text)
  local last = tonumber(text or '')
  return last and last >= 0 and last < AWAITING and last or 0
end

-- The first token of the holder that has the lock alone, as it stands behind its id, and 1; -1 and 0 for a holder without tokens.
local function first_token(current, holder)
  local token = tonumber(string.sub(current, #holder + 2))
  return token or -1, token and 1 or 0
end

-- The next `count` fencing tokens: above every earlier one while the fence lives, and above the
-- clock of every earlier grant when it was lost. They may lead the clock by 100 ms: then as many are given as fit, and one in any case.
-- The fence outlives their lead by a day. What names no token is written over. Returns the first and how many.
--- @include token_text, last_token
local function mint_fencing_tokens(fence, now, count)
  local last = last_token(redis.call('SET', fence, token_text(now + count - 1), 'PX', 'FENCE_LIFE', 'GET'))
  if last < now then
    return now, count
  end
  count = math.max(1, math.min(count, now + TOKEN_LEAD - last))
  redis.call('SET', fence, token_text(last + count), 'PX', FENCE_LIFE + math.ceil((last + count - now) / 1000))
  return last + 1, count
end

-- The tokens of a lock that was free, as mint_fencing_tokens gives them. Runs that leave in one script share them: a lock that is free was granted to nobody
-- before in this script, so that all its earlier tokens are smaller; and whatever is granted later has greater ones.
--- @include mint_fencing_tokens
local MINTED = { first = 0, last = -1 }
local function mint_together(fence, now, count)
  if MINTED.last - MINTED.first + 1 < count then
    MINTED.first, count = mint_fencing_tokens(fence, now, count)
    MINTED.last = MINTED.first + count - 1
  end
  return MINTED.first, count
end

-- The token of a permit: minted once, and known for a minute to who asks again because the answer got lost. A script removes old ones once,
-- and the version: who has a permit with a token may write, as who has the lock alone.
-- Needs `seen`, `fence` and `version` of the script: tokens stand in `seen` beside the times, of which none is so large.
--- @include mint_fencing_tokens
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

-- The version of what the lock guards, which is the token of its readers: no writer before had a greater one, and every later one has.
-- A new one is minted: the last token that a promoted replica has may be older than that of a grant which it never got.
-- It stands until somebody is granted the lock alone, or a permit, with tokens; a minute beyond the longest lease of readers at most.
-- Needs `lock`, `fence` and `version` of the script.
--- @include mint_fencing_tokens, last_token, int_text
local function plant_version(now)
  local token, life = last_token(redis.call('GET', version)), math.max(0, redis.call('PTTL', lock)) + VERSION_LIFE
  if token > 0 then
    redis.call('PEXPIRE', version, life)
    return token
  end
  token = mint_fencing_tokens(fence, now, 1)
  redis.call('SET', version, int_text(token), 'PX', life)
  return token
end

-- Write the last token down, for a day and as long as it leads the clock.
--- @include int_text
local function write_fence(fence, last, now)
  redis.call('SET', fence, int_text(last), 'PX', FENCE_LIFE + math.max(0, math.ceil((last - now) / 1000)))
end

-- The token of what is held is remembered a minute longer than the lease.
local function keep_version(version, left)
  redis.call('PEXPIRE', version, left + VERSION_LIFE)
end

-- The fencing token of a grant in another service's format: one of our own, which `version` remembers a minute longer than the lease; -1 if none
-- is asked for. A grant that is told `again`, and a reader, have the one that is remembered. Needs `mint_fencing_tokens`.
--- @include last_token, int_text
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
  redis.call('SET', version, int_text(known), 'PX', life)
  return known
end
