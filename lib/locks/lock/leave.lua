-- Give up a place in the queue, and the lock if the place was granted meanwhile; let the next one through.
-- Returns 1 if the lock was the leaver's, else 0.
local lock, queue, seen, fence = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, place, inbox = ARGV[1], ARGV[2], ARGV[3]

--- @include "now"
--- @include "mint-fencing-tokens"
--- @include "grant-next"

redis.call('ZREM', queue, place)
local mine = redis.pcall('GET', lock) == holder
if mine then
  redis.call('DEL', lock)
end
if redis.call('EXISTS', queue) == 1 and redis.call('EXISTS', lock) == 0 then
  grant_next(lock, queue, seen, fence, inbox, now_us())
end
return mine and 1 or 0
