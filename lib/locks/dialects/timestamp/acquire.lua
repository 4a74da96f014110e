-- Take the lock if nothing stands at its name, or a time that is past.
-- Returns {kind, ms left or what stands there, now, token}.
local lock, fence, grant = KEYS[1], KEYS[2], KEYS[3]
local holder, ttl, tokens, not_after, unit, lasting = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

--- @include "now"
--- @include "mint-fencing-tokens"
--- @include "holders-token"
--- @include "timestamp"
--- @include "ends-of"
--- @include "grant-of"
--- @include "still-his"
--- @include "write-timestamp"

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local current = redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, -1 }
end
local own, who = grant_of(grant)
if who == holder and still_his(current, own, unit, now) then
  return { 'held', math.min(tonumber(ttl), math.floor(ends_of(own, unit) - now / 1000) - 1000), now, holders_token(fence, now, tokens, true) }
end
local ends = current and ends_of(current, unit)
if current and (not ends or ends >= now / 1000) then
  return { 'busy', ends and math.ceil(ends - now / 1000) or -1, now, -1 }
end
write_timestamp(lock, grant, holder, timestamp(now, ttl, unit), unit, lasting, now)
return { 'held', tonumber(ttl), now, holders_token(fence, now, tokens, false) }
