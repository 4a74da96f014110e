-- Look at a lock that has no queue of ours, without touching it.
-- Returns {type, value of a string, ms left, last token, now}.
local lock, fence = KEYS[1], KEYS[2]

--- @include "now"

local kind = redis.call('TYPE', lock).ok
return { kind, kind == 'string' and redis.call('GET', lock) or '', redis.call('PTTL', lock), redis.call('GET', fence) or '', now_us() }
