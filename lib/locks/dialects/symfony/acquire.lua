-- Take the lock to write, if nobody has it, or to read, if nobody writes: each holder is a member with the end of his lease, beside the word that says that it is written.
-- Returns {kind, ms left or what stands there, now, token}; a reader has the last writer's token.
local lock, fence = KEYS[1], KEYS[2]
local holder, ttl, tokens, not_after, mode = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

--- @include "now"
--- @include "mint-fencing-tokens"
--- @include "holders-token"
--- @include "written-lease"

local now = now_us()
if now > tonumber(not_after) then
  return { 'late', 0, now, -1 }
end
local found = redis.call('TYPE', lock).ok
if found ~= 'none' and found ~= 'zset' then
  return { 'foreign', found, now, -1 }
end
local ms, reads = math.floor(now / 1000), mode == 'read'
redis.call('ZREMRANGEBYSCORE', lock, '-inf', ms)
local mine = redis.call('ZSCORE', lock, holder)
if mine then
  return { 'held', mine - ms, now, holders_token(fence, now, tokens, true) }
elseif redis.call('ZCARD', lock) > 0 and not (reads and not redis.call('ZSCORE', lock, '__write__')) then
  return { 'busy', redis.call('PTTL', lock), now, -1 }
end
written_lease(lock, holder, ms + ttl, not reads)
return { 'held', tonumber(ttl), now, holders_token(fence, now, tokens, reads) }
