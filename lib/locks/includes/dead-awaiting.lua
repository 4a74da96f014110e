-- The entries of those who await a condition and whose process is gone: nobody may ever signal them. Looks at 100 who await, each time at others.
-- Needs `queue` and `seen` of the script. Returns them, and how many await in all.
--- @include "lives"
--- @include "process-of"
--- @include "whole"
local function dead_awaiting(now)
  local dead, alive = {}, {}
  local all, entries = redis.call('ZCARD', queue), redis.call('ZCOUNT', queue, whole(AWAITING), '+inf')
  local from = all - entries + (entries > DEAD_AWAITING and now % (entries - DEAD_AWAITING + 1) or 0)
  for _, entry in ipairs(redis.call('ZRANGE', queue, from, from + DEAD_AWAITING - 1)) do
    local process = process_of(entry)
    if alive[process] == nil then
      alive[process] = lives(process, now) or false
    end
    if not alive[process] then
      dead[#dead + 1] = entry
    end
  end
  return dead, entries
end
