-- Inspect a lock that is a string and has no queue of ours, without a write.
-- Returns {type, 1 if it is a string, ms left, last token, now, 'write', {its value, ms left}, its token, and its sight: `force` takes the lock only while its sight is the same}.
local lock, fence, version = KEYS[1], KEYS[2], KEYS[3]

--- @include now_us, sight_of

local found, left = redis.call('TYPE', lock).ok, redis.call('PTTL', lock)
local value = found == 'string' and redis.call('GET', lock)
return {
  found, value and 1 or 0, left, redis.call('GET', fence) or '', now_us(), 'write', value and { value, left } or {}, redis.call('GET', version) or '',
  value and sight_of({ value }) or '',
}
