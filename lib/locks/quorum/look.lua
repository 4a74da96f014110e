-- Look at this node's vote without touching it.
-- Returns {type, for whom, ms left, last token, clock}.
local lock, fence = KEYS[1], KEYS[2]

--- @include "now"

local kind = redis.call('TYPE', lock).ok
local current = kind == 'string' and redis.call('GET', lock) or ''
return { kind, current, redis.call('PTTL', lock), redis.call('GET', fence) or '', now_us() }
