-- Tell the version of what the lock guards: its last token, which every exclusive grant moves on. Where there is none, mint one, so that its loss is noticed.
-- Returns the version; 0 while somebody holds the lock alone; a text, what else it is, where it is no such lock.
local lock, fence, holders = KEYS[1], KEYS[2], KEYS[3]

--- @include "now"
--- @include "standing"
--- @include "mint-fencing-tokens"

local current, now = redis.pcall('GET', lock), now_us()
if type(current) == 'table' then
  return redis.call('TYPE', lock).ok
end
current = standing(current, now)
if current == PERMITS then
  return 'semaphore'
end
local version = tonumber(redis.call('GET', fence) or '')
if version then
  redis.call('PEXPIRE', fence, FENCE_LIFE + math.max(0, math.ceil((version - now) / 1000)))
else
  version = mint_fencing_tokens(fence, now, 1)
end
if current and current ~= SHARED and current ~= KEPT then
  return 0
end
return version
