-- Take the lock away from whoever holds it, give it to the next waiter, and tell the old holder's process.
-- Returns {1 or 0, type}: 0 with 'none' where nobody held it, 0 with another type where it is no lock.
local lock, queue, seen, fence = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local inbox = ARGV[1]

--- @include "now"
--- @include "mint-fencing-tokens"
--- @include "grant-next"

local kind = redis.call('TYPE', lock).ok
if kind ~= 'string' then
  return { 0, kind }
end
local holder = redis.call('GET', lock)
redis.call('DEL', lock)
if redis.call('EXISTS', queue) == 1 then
  grant_next(lock, queue, seen, fence, inbox, now_us())
end
local process = string.match(holder, '^([^/]+)/[^/]+$')
if process then
  redis.pcall('PUBLISH', inbox .. process, 'forced ' .. holder)
end
return { 1, kind }
