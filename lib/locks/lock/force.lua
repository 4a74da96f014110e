-- Take the lock away from whoever holds it, give it to the next waiter, and tell the old holders' processes.
-- Returns {1 or 0, type}: 0 with 'none' where nobody held it, 0 with another type where it is no lock.
local lock, queue, seen, fence, holders = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local inbox = ARGV[1]

--- @include "now"
--- @include "grant-next"

local kind = redis.call('TYPE', lock).ok
if kind ~= 'string' then
  return { 0, kind }
end
local current = redis.call('GET', lock)
local forced = { current }
if current == SHARED or current == PERMITS then
  forced = redis.call('ZRANGE', holders, 0, -1)
end
redis.call('DEL', lock, holders)
if redis.call('EXISTS', queue) == 1 then
  grant_next(now_us(), false)
end
for _, holder in ipairs(forced) do
  local process = string.match(holder, '^([^/]+)/[^/#]+$')
  if process then
    redis.pcall('PUBLISH', inbox .. process, 'forced ' .. holder)
  end
end
return { 1, kind }
