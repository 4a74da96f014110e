-- Take the lock if the key is free, or has a past time that Redis does not expire.
-- Returns {kind, ms left or the foreign type, now, token}, for 'held' also 1.
local lock, fence, grant, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, ttl, tokens, not_after, unit, lasting = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--- @include now_us, mint_fencing_tokens, holders_token, timestamp, ends_of, past_from, grant_of, still_own, write_timestamp

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local current = redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, -1 }
end
local own = grant_of(grant)
if still_own(current, own, holder, unit, now) then
  local left = math.min(tonumber(ttl), math.floor(ends_of(own.value, unit) - now / 1000) - 1000)
  return { 'held', left, now, holders_token(fence, version, now, tokens, true, ttl), 1 }
end
if current then
  local past, left = ends_of(current, unit) and past_from(current), redis.call('PTTL', lock)
  if not past or past >= now / 1000 or left ~= -1 then
    return { 'busy', past and past >= now / 1000 and math.ceil(past - now / 1000) or left, now, -1 }
  end
end
write_timestamp(lock, grant, holder, timestamp(now, ttl, unit), unit, lasting, now)
return { 'held', tonumber(ttl), now, holders_token(fence, version, now, tokens, false, ttl), 1 }
