-- Fencing tokens, the fence that remembers the last of them, and versions.

-- A token as Redis writes it. It is formatted in two halves: `%.0f`, or a number passed to Redis, takes 0.2 µs longer.
local function token_text(token)
  return string.format('%d%08d', token / 1e8, token % 1e8)
end

-- The token in a fence or a version; 0 for a text that is no token, or for one beyond any clock: somebody else wrote it.
local function last_token(text)
  local last = tonumber(text or '')
  return last and last >= 0 and last < AWAITING and last or 0
end

-- The first token behind the id of an exclusive holder, and 1; -1 and 0 for a holder without tokens.
local function first_token(current, holder)
  local token = tonumber(string.sub(current, #holder + 2))
  return token or -1, token and 1 or 0
end

-- The next `count` fencing tokens: above every earlier one while the fence lives, and above the clock of every earlier grant if the fence was lost. Tokens may lead the clock by 100 ms: beyond that fewer are given, but always one.
-- The fence outlives their lead by a day, and a value that is no token is overwritten. Returns the first token and their number.
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

-- Tokens for a free lock, as `mint_fencing_tokens` gives them, shared by all runs merged into one script. A free lock was granted to nobody earlier in this script, so all its earlier tokens are smaller; later grants get greater ones.
--- @include mint_fencing_tokens
local MINTED = { first = 0, last = -1 }
local function mint_together(fence, now, count)
  if MINTED.last - MINTED.first + 1 < count then
    MINTED.first, count = mint_fencing_tokens(fence, now, count)
    MINTED.last = MINTED.first + count - 1
  end
  return MINTED.first, count
end

-- A new token for a permit, remembered for a minute for a caller that asks again after a lost answer. Each script removes some old tokens, once.
-- The version is deleted too, since a holder of a permit with a token may write, like an exclusive holder.
-- Needs `seen`, `fence` and `version` of the script: tokens stand in `seen` beside times, which are smaller.
--- @include mint_fencing_tokens
local tidy = false
local function permit_token(holder, now)
  local token = mint_fencing_tokens(fence, now, 1)
  redis.call('ZADD', seen, token, holder)
  if not tidy then
    local old = redis.call('ZRANGEBYSCORE', seen, LEAST_TOKEN, now - TOKEN_KNOWN * 1000, 'LIMIT', 0, EXPIRED_LEASES)
    if old[1] then
      redis.call('ZREM', seen, unpack(old))
    end
    redis.call('PEXPIRE', seen, QUEUE_LIFE)
    redis.call('DEL', version)
    tidy = true
  end
  return token
end

-- The version of the guarded data, which is the token of its readers: no earlier writer had a greater token, and every later one has.
-- A new version is minted, since the last token on a promoted replica may be older than that of a grant that it never got.
-- The version stands until an exclusive holder, or a permit, is granted tokens, or for a minute beyond the longest lease of readers.
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

-- Write the last token to the fence, for a day and as long as the token leads the clock.
--- @include int_text
local function write_fence(fence, last, now)
  redis.call('SET', fence, int_text(last), 'PX', FENCE_LIFE + math.max(0, math.ceil((last - now) / 1000)))
end

-- Keep the token of a held lock for a minute longer than its lease.
local function keep_version(version, left)
  redis.call('PEXPIRE', version, left + VERSION_LIFE)
end

-- The fencing token of a grant in another service's format: one of our own, which `version` remembers a minute longer than the lease; -1 if none is asked for.
-- A repeated answer (`again`) and a reader get the remembered token. A writer's has a minus before it, so that no reader takes the token of a writer that crashed. Needs `mint_fencing_tokens`.
--- @include last_token, int_text
local function holders_token(fence, version, now, tokens, again, lease, reads)
  if tokens == '0' then
    return -1
  end
  local sign, life = reads and 1 or -1, lease + VERSION_LIFE
  local known = again and last_token(sign * (tonumber(redis.call('GET', version) or 0) or 0)) or 0
  if known > 0 then
    redis.call('PEXPIRE', version, math.max(life, redis.call('PTTL', version))) -- another holder's lease may need the version for longer
    return known
  end
  known = mint_fencing_tokens(fence, now, 1)
  redis.call('SET', version, int_text(sign * known), 'PX', life)
  return known
end
