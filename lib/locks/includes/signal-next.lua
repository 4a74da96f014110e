-- Wake the first who awaits a condition and lives: his place goes to the end of the queue, as one that was signalled.
-- Needs `queue` and `seen` of the script. Returns whether there was one.
--- @include "lives"
--- @include "tail-of-queue"
local function signal_next(condition, now)
  for _, place in ipairs(redis.call('ZRANGEBYSCORE', queue, whole(AWAITING), '+inf')) do
    local claim, process, kind, awaited = string.match(place, '^(([^/]+)/[^/]+/%d+)/(w%d+)/([^/]+)$')
    if awaited == condition then
      redis.call('ZREM', queue, place)
      if lives(process, now) then
        redis.call('ZADD', queue, tail_of_queue(now), claim .. '/' .. string.gsub(kind, 'w', 'c') .. '/' .. condition)
        redis.call('PEXPIRE', queue, 60000)
        return true
      end
    end
  end
  return false
end
