-- Take the lock if the key is free, by a hash with the holder's count, as RLock writes it. An RFencedLock counts its tokens itself.
-- Returns {kind, ms left or the foreign type, now, token}.
local lock, fence, counter, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, ttl, tokens, not_after, fenced = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include now_us, mint_fencing_tokens, holders_token, is_redisson_lock

local now = now_us()
local function held(left, again)
  local given
  if fenced == '1' and tokens ~= '0' then
    given = tonumber(again and redis.call('GET', counter) or redis.call('INCR', counter))
    redis.call('DEL', version) -- that of optimistic reads, as each writer with tokens does
  else
    given = holders_token(fence, version, now, tokens, again, ttl)
  end
  return { 'held', left, now, given }
end

if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local found = redis.call('TYPE', lock).ok
if found == 'none' then
  redis.call('HSET', lock, holder, 1)
  redis.call('PEXPIRE', lock, ttl)
  return held(tonumber(ttl), false)
elseif found ~= 'hash' then
  return { 'foreign', found, now, -1 }
end
local left = redis.call('PTTL', lock)
if redis.call('HEXISTS', lock, holder) == 1 then
  return held(left, true)
elseif not is_redisson_lock(lock) then
  return { 'foreign', found, now, -1 }
end
return { 'busy', left, now, -1 }
