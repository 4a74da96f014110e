-- Take the lock if nothing stands at its name, or, with timestamp_compat, what a client of the SETNX articles left there and is past.
-- Returns {kind, ms left or what stands there, now, token}, for 'held' with timestamp_compat also 1: a client that lost a take-over may still write over it.
local lock, fence, grant, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, ttl, tokens, not_after, timestamp_compat = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include "now"
--- @include "mint-fencing-tokens"
--- @include "holders-token"
--- @include "moment-of"
--- @include "past-from"
--- @include "overwritten"
--- @include "remember-holder"

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
elseif redis.call('SET', lock, holder, 'NX', 'PX', ttl) then
  if timestamp_compat then
    remember_holder(grant, holder, tonumber(ttl), now)
  end
  return { 'held', tonumber(ttl), now, holders_token(fence, version, now, tokens, false, ttl), timestamp_compat and 1 }
end
local current = redis.pcall('GET', lock)
if type(current) == 'table' then
  return { 'foreign', redis.call('TYPE', lock).ok, now, -1 }
elseif current == holder then
  return { 'held', redis.call('PTTL', lock), now, holders_token(fence, version, now, tokens, true, ttl), timestamp_compat and 1 }
end
local left = redis.call('PTTL', lock)
local again = timestamp_compat and overwritten(lock, grant, holder, current, now) ~= nil
local past = timestamp_compat and left == -1 and moment_of(current) and past_from(current)
if again or past and past < now / 1000 then
  redis.call('SET', lock, holder, 'PX', ttl)
  remember_holder(grant, holder, tonumber(ttl), now)
  return { 'held', tonumber(ttl), now, holders_token(fence, version, now, tokens, again, ttl), 1 }
end
return { 'busy', left, now, -1 }
