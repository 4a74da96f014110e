-- Look at a lock without touching it.
-- Returns {type, holder, ms left, token, now, places waiting, place, arrival, place, arrival, ...}.
local lock, queue, fence = KEYS[1], KEYS[2], KEYS[3]
local most = ARGV[1]

--- @include "now"

local type_found = redis.call('TYPE', lock).ok
local holder = type_found == 'string' and redis.call('GET', lock) or ''
local answer = { type_found, holder, redis.call('PTTL', lock), redis.call('GET', fence) or '', now_us(), redis.call('ZCARD', queue) }
for _, entry in ipairs(redis.call('ZRANGE', queue, 0, most - 1, 'WITHSCORES')) do
  answer[#answer + 1] = entry
end
return answer
