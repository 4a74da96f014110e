-- Read the version of the guarded data. It lasts until an exclusive holder, or a permit, is granted tokens; for a minute at most, if nobody asks again.
-- Returns the version; 0 while the lock is held exclusively; the type or use of the key as a text, if it is no such lock.
local lock, fence, holders, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

--- @include now_us, standing, plant_version

local current, now = redis.pcall('GET', lock), now_us()
if type(current) == 'table' then
  return redis.call('TYPE', lock).ok
end
current = standing(current, now)
if current == PERMITS then
  return 'semaphore'
elseif current and current ~= SHARED and current ~= KEPT then
  return 0
end
return plant_version(now)
