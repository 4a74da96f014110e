-- Take the lock if nothing stands at its name, or, with a guard, what a client of the SETNX articles left there and is past.
-- Returns {kind, ms left or what stands there, now, token}.
local lock, fence = KEYS[1], KEYS[2]
local holder, ttl, tokens, not_after, guard = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include "now"
--- @include "mint-fencing-tokens"
--- @include "holders-token"
--- @include "is-past"

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
elseif redis.call('SET', lock, holder, 'NX', 'PX', ttl) then
  return { 'held', tonumber(ttl), now, holders_token(fence, now, tokens, false) }
end
local current = redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, -1 }
elseif current == holder then
  return { 'held', redis.call('PTTL', lock), now, holders_token(fence, now, tokens, true) }
end
local left = redis.call('PTTL', lock)
if guard and left == -1 and is_past(current, now) then
  redis.call('SET', lock, holder, 'PX', ttl)
  return { 'held', tonumber(ttl), now, holders_token(fence, now, tokens, false) }
end
return { 'busy', left, now, -1 }
